"""The plugins for vLLM and SGLang against a short copy of the interface that they meet
there (vLLM 0.33.0, SGLang 0.5.23); `make vllm` runs them in the real ones."""

import json
import random
import sys
import types
import unittest
from unittest import mock

import utp_bx

from . import goldens


class Model:
    """A pydantic model, as far as the plugins go: fields are their types, with those that
    may be missing."""

    fields: dict | None = None  # None: any
    missing: tuple = ()

    def __init__(self, **given):
        if self.fields is not None:
            assert set(given) <= set(self.fields), given
            assert set(self.fields) - set(given) <= set(self.missing), given
            for name, value in given.items():
                assert isinstance(value, self.fields[name]) or (value is None and name in self.missing), (name, value)
        for name, value in {**dict.fromkeys(self.missing), **self.defaults(), **given}.items():
            setattr(self, name, value)

    @staticmethod
    def defaults():
        return {}

    def model_dump(self, **_):
        return {k: v.model_dump() if isinstance(v, Model) else v for k, v in vars(self).items()}


class FunctionCall(Model):
    fields = {"id": str, "name": str, "arguments": str}
    missing = ("id",)


class DeltaFunctionCall(Model):
    fields = {"name": str, "arguments": str}
    missing = ("name", "arguments")


class ToolCall(Model):
    fields = {"id": str, "type": str, "function": FunctionCall}
    missing = ("id", "type")
    made = 0

    @staticmethod
    def defaults():
        ToolCall.made += 1
        return {"id": f"chatcmpl-tool-{ToolCall.made}", "type": "function"}


class DeltaToolCall(Model):
    fields = {"id": str, "type": str, "index": int, "function": DeltaFunctionCall}
    missing = ("id", "type", "function")


class ExtractedToolCallInformation(Model):
    fields = {"tools_called": bool, "tool_calls": list, "content": str}
    missing = ("content",)


class DeltaMessage(Model):
    fields = {"role": str, "content": str, "reasoning": str, "tool_calls": list}
    missing = ("role", "content", "reasoning", "tool_calls")

    @staticmethod
    def defaults():
        return {"tool_calls": []}


class ToolParser:
    """vllm/tool_parsers/abstract_tool_parser.py"""

    supports_required_and_named = True
    engine_based_streaming = False
    structural_tag_model = None

    def __init__(self, tokenizer, tools=None):
        self.prev_tool_call_arr, self.streamed_args_for_tool = [], []
        self.current_tool_id, self.current_tool_name_sent = -1, False
        self.model_tokenizer, self.tools = tokenizer, tools or []

    def adjust_request(self, request):
        return request

    def get_remaining_unstreamed_args(self):
        if not self.prev_tool_call_arr:
            return ""
        i = len(self.prev_tool_call_arr) - 1
        arguments = self.prev_tool_call_arr[i].get("arguments", {})
        expected = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        actual = self.streamed_args_for_tool[i] if i < len(self.streamed_args_for_tool) else ""
        return expected[len(actual) :] if expected.startswith(actual) else ""


class ToolParserManager:
    tool_parsers: dict = {}

    @classmethod
    def register_module(cls, name, force=True, module=None):
        cls.tool_parsers[name] = module


class ToolCallItem(Model):
    """sglang/srt/function_call/core_types.py"""

    fields = {"tool_index": int, "name": str, "parameters": str}
    missing = ("name",)


class StreamingParseResult(Model):
    fields = {"normal_text": str, "calls": list}
    missing = ("normal_text", "calls")

    @staticmethod
    def defaults():
        return {"normal_text": "", "calls": []}


class BaseFormatDetector:
    """sglang/srt/function_call/base_format_detector.py"""

    def __init__(self):
        self._buffer = self.bot_token = self.eot_token = ""
        self.prev_tool_call_arr, self.streamed_args_for_tool = [], []
        self.current_tool_id, self.current_tool_name_sent, self.tool_call_separator = -1, False, ", "

    def _get_tool_indices(self, tools):
        return {t.function.name: i for i, t in enumerate(tools) if t.function.name}


class FunctionCallParser:
    ToolCallParserEnum: dict = {}


def module(name, **names):
    m = types.ModuleType(name)
    vars(m).update(names)
    return {name: m}


STUBS = {
    **module("vllm"),
    **module("vllm.entrypoints"),
    **module("vllm.entrypoints.generate"),
    **module("vllm.entrypoints.generate.base"),
    **module(
        "vllm.entrypoints.generate.base.protocol",
        DeltaFunctionCall=DeltaFunctionCall,
        DeltaMessage=DeltaMessage,
        DeltaToolCall=DeltaToolCall,
        ExtractedToolCallInformation=ExtractedToolCallInformation,
        FunctionCall=FunctionCall,
        ToolCall=ToolCall,
    ),
    **module("vllm.tool_parsers"),
    **module("vllm.tool_parsers.abstract_tool_parser", ToolParser=ToolParser, ToolParserManager=ToolParserManager),
    **module("sglang"),
    **module("sglang.srt"),
    **module("sglang.srt.function_call"),
    **module("sglang.srt.function_call.base_format_detector", BaseFormatDetector=BaseFormatDetector),
    **module("sglang.srt.function_call.core_types", StreamingParseResult=StreamingParseResult, ToolCallItem=ToolCallItem),
    **module("sglang.srt.function_call.function_call_parser", FunctionCallParser=FunctionCallParser),
}


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stubs = mock.patch.dict(sys.modules, STUBS)
        cls.stubs.start()
        for name in ("utp_bx.vllm", "utp_bx.sglang"):
            sys.modules.pop(name, None)
        import utp_bx.sglang
        import utp_bx.vllm

        utp_bx.sglang.register()
        cls.parser = ToolParserManager.tool_parsers["utp"]
        cls.detector = FunctionCallParser.ToolCallParserEnum["utp"]
        rnd = random.Random(33)
        cls.cases = rnd.sample([c for c in goldens.cases() if not c.options.get("prefill")], 60)

    @classmethod
    def tearDownClass(cls):
        cls.stubs.stop()

    def want(self, case):
        """What utp_bx makes of the text, the dialect not told."""
        stream = utp_bx.Stream(case.tools)
        reply = stream.close(case.text)
        return reply, [(c.name, c.arguments_json) for c in reply.tool_calls]

    def pieces(self, case, size):
        return [case.text[i : i + size] for i in range(0, len(case.text), size)] if size else [case.text]

    def request(self, case):
        return Model(tools=[Model(**t) for t in case.tools or ()], tool_choice="auto", skip_special_tokens=True)

    def test_vllm(self):
        for case in self.cases:
            reply, want = self.want(case)
            request = self.request(case)
            info = self.parser(None).extract_tool_calls(case.text, request)
            self.assertEqual([(c.function.name, c.function.arguments) for c in info.tool_calls], want, case.file)
            self.assertEqual(info.tools_called, bool(want))
            for size in (1, 7, 0):
                parser = self.parser(None)
                deltas = [parser.extract_tool_calls_streaming("", "", p, [], [], [], request) for p in self.pieces(case, size)]
                deltas = [d for d in [*deltas, parser.finish_streaming()] if d]
                calls = [c for d in deltas for c in d.tool_calls]
                self.assertEqual([(c.function.name, c.function.arguments) for c in calls], want, case.file)
                self.assertEqual([c.index for c in calls], list(range(len(want))))
                self.assertEqual(len({c.id for c in calls}), len(want))
                self.assertEqual(parser.get_remaining_unstreamed_args(), "")
                content = "".join(d.content or "" for d in deltas)
                self.assertEqual(content.split(), (info.content or "").split(), case.file)
                if not reply.reasoning and not want:
                    self.assertEqual(content, reply.content, case.file)

    def test_vllm_settings(self):
        self.assertTrue(self.parser.engine_based_streaming)
        self.assertFalse(self.parser.supports_required_and_named)
        case = goldens.Case("", "", [{"type": "function", "function": {"name": "f"}}])
        self.assertFalse(self.parser(None).adjust_request(self.request(case)).skip_special_tokens)
        none = self.request(case)
        none.tool_choice = "none"
        self.assertTrue(self.parser(None).adjust_request(none).skip_special_tokens)
        self.assertIsNone(self.parser(None).finish_streaming())

    def test_thinking_is_content(self):
        """In its tags, where the server has taken no reasoning out."""
        case = goldens.Case("", '<think>Hm, <b>.</think>\nYes.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>', [{"name": "f"}])
        for size in (1, 0):
            parser = self.parser(None)
            deltas = [parser.extract_tool_calls_streaming("", "", p, [], [], [], self.request(case)) for p in self.pieces(case, size)]
            text = "".join(d.content or "" for d in [*deltas, parser.finish_streaming()] if d)
            self.assertEqual(text.split(), "<think>Hm, <b>.</think>Yes.".split())
        self.assertEqual(self.parser(None).extract_tool_calls("<think>Hm", self.request(case)).content, "<think>Hm</think>")

    def test_sglang(self):
        for case in self.cases:
            _, want = self.want(case)
            tools = [Model(type="function", function=Model(**t.get("function", t))) for t in case.tools or ()]
            whole = self.detector().detect_and_parse(case.text, tools)
            self.assertEqual([(c.name, c.parameters) for c in whole.calls], want, case.file)
            names = [t.function.name for t in tools]
            self.assertEqual([c.tool_index for c in whole.calls], [names.index(n) if n in names else -1 for n, _ in want])
            for size in (1, 7, 0):
                detector = self.detector()
                results = [detector.parse_streaming_increment(p, tools) for p in self.pieces(case, size)] + [detector.finish(tools)]
                calls = [c for r in results for c in r.calls]
                self.assertEqual([(c.name, c.parameters) for c in calls], want, case.file)
                self.assertEqual([c.tool_index for c in calls], list(range(len(want))))
                self.assertEqual("".join(r.normal_text for r in results).split(), whole.normal_text.split(), case.file)
        detector = self.detector()
        self.assertTrue(detector.has_tool_call("x"))
        self.assertFalse(detector.supports_structural_tag())
        json.dumps(detector.prev_tool_call_arr)


if __name__ == "__main__":
    unittest.main()
