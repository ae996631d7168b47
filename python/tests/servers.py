"""The plugins inside vLLM and SGLang, over the recorded replies of CanIToolCall, beside
vLLM's own parsers: python -m tests.servers (`make vllm` installs what it needs).

A stub tokenizer knows the markers of a family as tokens; all else are characters. No
model runs. A reply is right if the names and arguments of all its calls are."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter

from canitoolcall.adapters.vllm import resolve_parsers
from canitoolcall.fixtures import default_fixtures_dir

import utp_bx

RIGHT = 420  # of 434, whole and streamed, is the least
MICROSECONDS = 50  # a delta, at most
PIECES = (1, 7, 0)  # tokens a delta; 0: all in one


class Tokenizer:
    """Markers and characters."""

    def __init__(self, markers):
        self.markers = sorted(markers, key=len, reverse=True)
        self.all_special_tokens = list(self.markers)
        self.vocab = {m: 0x200000 + i for i, m in enumerate(self.markers)}
        self.all_special_ids = list(self.vocab.values())
        self.eos_token_id, self.bos_token_id = 0x1FFFFF, 0x1FFFFE

    def get_vocab(self):
        return self.vocab

    def units(self, text):
        at, out = 0, []
        while at < len(text):
            unit = next((m for m in self.markers if text.startswith(m, at)), text[at])
            out.append(unit)
            at += len(unit)
        return out

    def encode(self, text, **_):
        return [self.vocab.get(u, ord(u[0])) for u in self.units(text)]

    def decode(self, ids, **_):
        return "".join(self.convert_ids_to_tokens(ids if isinstance(ids, list) else [ids]))

    def convert_ids_to_tokens(self, ids, **_):
        names = {i: m for m, i in self.vocab.items()}
        return [names.get(i) or chr(i) for i in ids]

    def convert_tokens_to_ids(self, tokens):
        return self.vocab.get(tokens, 0) if isinstance(tokens, str) else [self.vocab.get(t, 0) for t in tokens]

    def __getattr__(self, name):
        raise AttributeError(name)


def fixtures():
    for folder in sorted(default_fixtures_dir().iterdir()):
        if not (folder / "family.json").is_file():
            continue
        family = json.loads((folder / "family.json").read_text())
        tokenizer = Tokenizer(family["markers"])
        for file in sorted(folder.glob("*.jsonl")):
            for line in file.read_text().splitlines():
                f = json.loads(line)
                yield f, tokenizer


def same(calls, expected):
    """Whether calls, (name, arguments as text), are those expected."""
    want = [(c["name"], c["arguments"]) for c in expected["tool_calls"] or ()]
    try:
        return [(n, json.loads(a)) for n, a in calls] == want
    except ValueError:
        return False


class VLLM:
    def __init__(self):
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

        ToolParserManager.import_tool_parser("utp_bx.vllm")
        self.request, self.manager = ChatCompletionRequest, ParserManager

    def parser(self, name, tokenizer, f):
        request = self.request(model="m", messages=[{"role": "user", "content": "?"}], **({"tools": f["tools"], "tool_choice": "auto"} if f["tools"] else {}))
        parser = self.manager.get_parser(name, None, enable_auto_tools=True, model_name="m")(tokenizer, request.tools)
        return parser, parser.adjust_request(request)

    def whole(self, name, tokenizer, f):
        parser, request = self.parser(name, tokenizer, f)
        _, _, calls = parser.parse(f["raw_output"], request, enable_auto_tools=True, model_output_token_ids=tokenizer.encode(f["raw_output"]))
        return [(c.name, c.arguments) for c in calls or ()]

    def streamed(self, name, tokenizer, f, size, times=None):
        parser, request = self.parser(name, tokenizer, f)
        units = tokenizer.units(f["raw_output"])
        size = size or max(len(units), 1)
        calls = {}
        for at in range(0, max(len(units), 1), size):
            text = "".join(units[at : at + size])
            ids = tokenizer.encode(text)
            start = time.perf_counter()
            delta = parser.parse_delta(text, ids, request, prompt_token_ids=[], finished=at + size >= len(units))
            if times is not None:
                times.append((time.perf_counter() - start) * 1e6)
            for c in (delta.tool_calls if delta else None) or ():
                slot = calls.setdefault(c.index, ["", ""])
                if c.function:
                    slot[0] += c.function.name or ""
                    slot[1] += c.function.arguments or ""
        return [tuple(calls[i]) for i in sorted(calls)]


class SGLang:
    def __init__(self):
        from sglang.srt.entrypoints.openai.protocol import Tool
        from sglang.srt.function_call.function_call_parser import FunctionCallParser

        from utp_bx import sglang

        sglang.register()
        self.tool, self.parser = Tool, FunctionCallParser

    def whole(self, f):
        _, calls = self.parser([self.tool(**t) for t in f["tools"]], "utp").parse_non_stream(f["raw_output"])
        return [(c.name, c.parameters) for c in calls]

    def streamed(self, f, tokenizer, size):
        parser = self.parser([self.tool(**t) for t in f["tools"]], "utp")
        units = tokenizer.units(f["raw_output"])
        out = []
        for at in range(0, len(units), size or max(len(units), 1)):
            out += parser.parse_stream_chunk("".join(units[at : at + (size or len(units))]))[1]
        return [(c.name, c.parameters) for c in out + parser.parse_stream_end()[1]]


def short_copy():
    """Where the interface of test_servers.py differs from the real one."""
    from sglang.srt.function_call import base_format_detector, core_types
    from vllm.entrypoints.generate.base import protocol
    from vllm.tool_parsers import abstract_tool_parser

    from . import test_servers as copy

    out = []

    def same(name, ours, real):
        if ours != real:
            out.append(f"{name}: {ours}, really {real}")

    for real in (protocol.FunctionCall, protocol.DeltaFunctionCall, protocol.ToolCall, protocol.DeltaToolCall, protocol.ExtractedToolCallInformation, protocol.DeltaMessage, core_types.ToolCallItem, core_types.StreamingParseResult):
        ours = getattr(copy, real.__name__)
        same(real.__name__, {n: n in ours.missing for n in ours.fields}, {n: not f.is_required() for n, f in real.model_fields.items()})
    real = abstract_tool_parser.ToolParser
    for name in ("supports_required_and_named", "engine_based_streaming", "structural_tag_model"):
        same(name, getattr(copy.ToolParser, name), getattr(real, name))
    same("ToolParser", vars(copy.ToolParser(None)), vars(real(None)))

    class Detector(base_format_detector.BaseFormatDetector):
        detect_and_parse = has_tool_call = structure_info = None

    same("BaseFormatDetector", vars(copy.BaseFormatDetector()), vars(Detector()))
    return out


def null_parser():
    """A parser that does nothing: what vLLM itself takes for a delta."""
    from vllm.entrypoints.generate.base.protocol import DeltaMessage
    from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

    class Null(ToolParser):
        engine_based_streaming = True

        def extract_tool_calls_streaming(self, *args):
            return DeltaMessage(content=args[2])

    ToolParserManager.register_module("null", module=Null)


def attempt(what, *args):
    try:
        return what(*args)
    except Exception as e:  # a parser of others that raises has found no call
        return [(type(e).__name__, "")]


def run_vllm(all):
    vllm = VLLM()
    null_parser()
    right, theirs, compared, count, worse = Counter(), Counter(), Counter(), Counter(), []
    times, base = [], []
    for f, tokenizer in all:
        family, expected = f["family"], f.get("expected")
        if expected is None:
            ours = len(attempt(vllm.whole, "utp", tokenizer, f))
            if ours > len(utp_bx.parse(f["raw_output"], f["tools"]).tool_calls):
                worse.append(f["id"])
            continue
        count[family] += 1
        right[family, "whole"] += same(attempt(vllm.whole, "utp", tokenizer, f), expected)
        for size in PIECES:
            right[family, size] += same(attempt(vllm.streamed, "utp", tokenizer, f, size, times if size == 1 else None), expected)
        vllm.streamed("null", tokenizer, f, 1, base)
        rule = resolve_parsers(family, f["models"][0])
        if family in ("gpt-oss", "mistral") or rule is None or rule.choice is None:
            continue  # they want token ids of the model's own, and its own tokenizer
        own = rule.choice.tool_parser
        compared[family] += 1
        theirs[family, "whole"] += same(attempt(vllm.whole, own, tokenizer, f), expected)
        theirs[family, 1] += same(attempt(vllm.streamed, own, tokenizer, f, 1), expected)
    print(f"\n{'vLLM':<14} {'utp: whole':>12} {'by 1':>6} {'by 7':>6} {'in one':>7}     vLLM's own: {'whole':>6} {'by 1':>6}")
    for family in sorted(count):
        row = [right[family, "whole"], *(right[family, s] for s in PIECES)]
        own = f"{theirs[family, 'whole']:>6} {theirs[family, 1]:>6} of {compared[family]}" if compared[family] else "  not run"
        print(f"{family:<14} {row[0]:>5} of {count[family]:>3} {row[1]:>6} {row[2]:>6} {row[3]:>7}                 {own}")
    sums = {k: sum(v for (_, kind), v in right.items() if kind == k) for k in ("whole", *PIECES)}
    same_families = {k: sum(v for (fam, kind), v in right.items() if kind == k and compared[fam]) for k in ("whole", 1)}
    print(f"all            {sums['whole']:>5} of {sum(count.values()):>3} {sums[1]:>6} {sums[7]:>6} {sums[0]:>7}")
    print(f"where vLLM's own ran: utp {same_families['whole']} whole, {same_families[1]} by 1; vLLM's own {sum(v for (_, k), v in theirs.items() if k == 'whole')}, {sum(v for (_, k), v in theirs.items() if k == 1)}, of {sum(compared.values())}")
    added = statistics.median(times) - statistics.median(base)
    print(f"a delta: p50 {statistics.median(times):.1f} µs, vLLM without a parser {statistics.median(base):.1f} µs, added {added:.1f} µs ({len(times)} deltas)")
    print(f"expected errors that are called more often than by bx parse: {worse or 'none'}")
    return min(sums.values()) >= RIGHT and not worse and added <= MICROSECONDS


def run_sglang(all):
    sglang = SGLang()
    right = Counter()
    count = 0
    for f, tokenizer in all:
        if f.get("expected") is None or not f["tools"]:
            continue  # SGLang asks no parser where no tools are offered
        count += 1
        right["whole"] += same(attempt(sglang.whole, f), f["expected"])
        for size in PIECES:
            right[size] += same(attempt(sglang.streamed, f, tokenizer, size), f["expected"])
    print(f"\nSGLang, of {count} with tools: whole {right['whole']}, by 1 {right[1]}, by 7 {right[7]}, in one {right[0]}")
    return min(right[k] for k in ("whole", *PIECES)) >= count - (434 - RIGHT)


if __name__ == "__main__":
    all = list(fixtures())
    print(f"{len(all)} recorded replies", flush=True)
    good = run_vllm(all)
    good = run_sglang(all) and good
    differs = short_copy()
    print(f"the short copy of their interface in test_servers.py: {'; '.join(differs) or 'true'}")
    good = good and not differs
    sys.exit(not good)
