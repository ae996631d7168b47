"""The adapters with the real packages: each gives a model that can only write text its
tools. `make python` installs them; what is not installed is skipped."""

import asyncio
import os
import unittest

from .goldens import ROOT

try:
    import langchain_core
except ImportError:
    langchain_core = None
try:
    import litellm
except ImportError:
    litellm = None
try:
    import pydantic_ai
except ImportError:
    pydantic_ai = None

CITIES = ["Oslo", "Bergen"]  # two calls: none may be lost
CALLS = "I look.\n" + "\n".join('<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>' % city for city in CITIES)
ANSWER = "It rains in Oslo."
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Tells it.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}


def says(prompt):
    """What the model writes: calls if it was told of the tool, an answer after their results."""
    if "rain: 7 mm" in prompt:
        assert prompt.count("<tool_response>") >= 2 and all('"city": "%s"' % city in prompt for city in CITIES), prompt
        return ANSWER
    assert "get_weather" in prompt and "Tells it." in prompt, prompt
    return CALLS


def pieces(text):
    return [text[i : i + 3] for i in range(0, len(text), 3)]


def needs(package, name):
    if package is None and os.environ.get("ADAPTERS") == "all":
        raise AssertionError(f"{name} is not installed")
    return unittest.skipIf(package is None, f"{name} is not installed")


@needs(langchain_core, "langchain-core")
class LangChain(unittest.TestCase):
    def model(self):
        from langchain_core.language_models.chat_models import BaseChatModel
        from langchain_core.messages import AIMessage, AIMessageChunk
        from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

        from utp_bx.langchain import WithTools

        class Text(BaseChatModel):
            @property
            def _llm_type(self):
                return "text"

            def _generate(self, messages, stop=None, run_manager=None, **kwargs):
                assert not kwargs.get("tools"), kwargs
                text = says("\n".join(m.text for m in messages))
                return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

            def _stream(self, messages, stop=None, run_manager=None, **kwargs):
                for piece in pieces(says("\n".join(m.text for m in messages))):
                    yield ChatGenerationChunk(message=AIMessageChunk(piece))

        return WithTools(model=Text(), model_name="qwen2.5")

    def check(self, message):
        self.assertEqual([(c["name"], c["args"]) for c in message.tool_calls], [("get_weather", {"city": city}) for city in CITIES])
        self.assertEqual(message.text, "I look.\n")

    def test_loop(self):
        from langchain_core.messages import HumanMessage, ToolMessage

        model = self.model().bind_tools([TOOL])
        asked = [HumanMessage("Weather in Oslo?")]

        async def streamed():
            total = None
            async for chunk in model.astream(asked):
                total = chunk if total is None else total + chunk
            return total

        total = None
        for chunk in model.stream(asked):
            total = chunk if total is None else total + chunk
        for message in (model.invoke(asked), asyncio.run(model.ainvoke(asked)), total, asyncio.run(streamed())):
            self.check(message)
            end = model.invoke([*asked, message, *(ToolMessage("rain: 7 mm", tool_call_id=c["id"]) for c in message.tool_calls)])
            self.assertEqual((end.text, end.tool_calls), (ANSWER, []))

    def test_function_as_tool(self):
        def get_weather(city: str) -> str:
            """Tells it."""
            return city

        self.check(self.model().bind_tools([get_weather], tool_choice="any").invoke("Oslo?"))


@needs(pydantic_ai, "pydantic-ai")
class PydanticAI(unittest.TestCase):
    def model(self):
        from pydantic_ai.messages import ModelResponse, TextPart
        from pydantic_ai.models.function import FunctionModel

        from utp_bx.pydantic_ai import WithTools

        def prompt(messages, info):
            assert not info.function_tools, info
            assert info.instructions == "Be brief.", info
            return "\n".join([ *(str(p.content) for m in messages for p in m.parts)])

        def whole(messages, info):
            return ModelResponse(parts=[TextPart(says(prompt(messages, info)))])

        async def stream(messages, info):
            for piece in pieces(says(prompt(messages, info))):
                yield piece

        return WithTools(FunctionModel(whole, stream_function=stream, model_name="qwen2.5"))

    def agent(self, **options):
        from pydantic_ai import Agent

        agent = Agent(self.model(), instructions="Be brief.", **options)
        asked = []

        @agent.tool_plain
        def get_weather(city: str) -> str:
            """Tells it."""
            asked.append(city)
            return "rain: 7 mm"

        return agent, asked

    def test_run(self):
        agent, asked = self.agent()
        self.assertEqual(agent.run_sync("Weather in Oslo?").output, ANSWER)
        self.assertEqual(sorted(asked), sorted(CITIES))  # they run at once

    def test_stream(self):
        agent, asked = self.agent()

        async def run():
            async with agent.iter("Weather in Oslo?") as run:
                async for node in run:
                    if agent.is_model_request_node(node):
                        async with node.stream(run.ctx) as stream:
                            async for _ in stream:
                                pass
            return run.result.output

        self.assertEqual(asyncio.run(run()), ANSWER)
        self.assertEqual(sorted(asked), sorted(CITIES))  # they run at once


@needs(litellm, "litellm")
class LiteLLM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from litellm import CustomLLM

        from utp_bx.litellm import UtpLLM

        class Text(CustomLLM):
            def completion(self, model, messages, **more):
                assert not more["optional_params"].get("tools"), more
                return litellm.ModelResponse(model=model, choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": says(str([m["content"] for m in messages]).replace("\\n", "\n"))}}])

            async def acompletion(self, *args, **more):
                return self.completion(*args, **more)

            def streaming(self, model, messages, **more):
                for piece in pieces(says(str([m["content"] for m in messages]))):
                    yield {"text": piece, "tool_use": None, "is_finished": False, "finish_reason": "", "usage": None, "index": 0}
                yield {"text": "", "tool_use": None, "is_finished": True, "finish_reason": "stop", "usage": None, "index": 0}

            async def astreaming(self, *args, **more):
                for chunk in self.streaming(*args, **more):
                    yield chunk

        litellm.custom_provider_map = [{"provider": "text", "custom_handler": Text()}, {"provider": "utp", "custom_handler": UtpLLM("hermes")}]
        litellm.utils.custom_llm_setup()

    ASKED = [{"role": "user", "content": "Weather in Oslo?"}]

    def check(self, message, why):
        self.assertEqual([(c.function.name, c.function.arguments) for c in message.tool_calls], [("get_weather", '{"city": "%s"}' % city) for city in CITIES])
        self.assertEqual((message.content, why), ("I look.\n", "tool_calls"))
        result = [*self.ASKED, message.model_dump(exclude_none=True), *({"role": "tool", "tool_call_id": c.id, "content": "rain: 7 mm"} for c in message.tool_calls)]
        end = litellm.completion("utp/text/m", result, tools=[TOOL]).choices[0]
        self.assertEqual((end.message.content, end.message.tool_calls), (ANSWER, None))

    def test_whole(self):
        for said in (litellm.completion("utp/text/m", self.ASKED, tools=[TOOL]), asyncio.run(litellm.acompletion("utp/text/m", self.ASKED, tools=[TOOL]))):
            self.check(said.choices[0].message, said.choices[0].finish_reason)

    def test_stream(self):
        async def streamed():
            return [c async for c in await litellm.acompletion("utp/text/m", self.ASKED, tools=[TOOL], stream=True)]

        for chunks in (list(litellm.completion("utp/text/m", self.ASKED, tools=[TOOL], stream=True)), asyncio.run(streamed())):
            said = litellm.stream_chunk_builder(chunks)
            self.check(said.choices[0].message, said.choices[0].finish_reason)


class Size(unittest.TestCase):
    def test_lines(self):
        """An adapter is short enough to be read before it is trusted."""
        for name in ("langchain", "pydantic_ai", "litellm", "vllm", "sglang"):
            text = (ROOT / "python" / "utp_bx" / f"{name}.py").read_text()
            self.assertLessEqual(len(text.splitlines()), 100, name)


if __name__ == "__main__":
    unittest.main()
