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


USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}


def says(prompt, write=None):
    """What the model writes: calls if it was told of the tool, an answer after their results."""
    if "rain: 7 mm" in prompt:
        assert prompt.count("<tool_response>") >= 2 and all('"city": "%s"' % city in prompt for city in CITIES), prompt
        return ANSWER
    assert "get_weather" in prompt and "Tells it." in prompt, prompt
    return write or CALLS


def pieces(text):
    return [text[i : i + 3] for i in range(0, len(text), 3)]


def needs(package, name):
    if package is None and os.environ.get("ADAPTERS") == "all":
        raise AssertionError(f"{name} is not installed")
    return unittest.skipIf(package is None, f"{name} is not installed")


@needs(langchain_core, "langchain-core")
class LangChain(unittest.TestCase):
    def model(self, write=None, native=(), asked=None):
        native, asked = list(native), [] if asked is None else asked
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
                asked.append(messages)
                text = says("\n".join(m.text for m in messages), write)
                return ChatResult(generations=[ChatGeneration(message=AIMessage(text, tool_calls=native, usage_metadata=USAGE))])

            def _stream(self, messages, stop=None, run_manager=None, **kwargs):
                for piece in pieces(says("\n".join(m.text for m in messages), write)):
                    yield ChatGenerationChunk(message=AIMessageChunk(piece))
                yield ChatGenerationChunk(message=AIMessageChunk("", usage_metadata=USAGE, response_metadata={"finish_reason": "stop"}))

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

    def test_thinking_and_tokens(self):
        """They come whole and in a stream."""
        model = self.model("<think>Hm.</think>" + CALLS).bind_tools([TOOL])
        streamed = None
        for chunk in model.stream("Oslo?"):
            streamed = chunk if streamed is None else streamed + chunk
        for message in model.invoke("Oslo?"), streamed:
            self.check(message)
            self.assertEqual((message.additional_kwargs["reasoning_content"], message.usage_metadata), ("Hm.", USAGE))
        self.assertEqual(streamed.response_metadata["finish_reason"], "stop")

    def test_native_calls_stay(self):
        message = self.model(native=[{"name": "own", "args": {}, "id": "1"}]).bind_tools([TOOL]).invoke("Oslo?")
        self.assertEqual([c["name"] for c in message.tool_calls], ["own", "get_weather", "get_weather"])

    def test_a_chain_tells_no_raw_text(self):
        """Who listens to its events sees what was read, once."""
        from langchain_core.prompts import ChatPromptTemplate

        chain = ChatPromptTemplate.from_messages([("user", "{q}")]) | self.model().bind_tools([TOOL])

        async def run():
            return [e async for e in chain.astream_events({"q": "Oslo?"}, version="v2") if e["event"] == "on_chat_model_stream"]

        events = asyncio.run(run())
        self.assertEqual({e["name"] for e in events}, {"WithTools"})
        self.assertEqual("".join(e["data"]["chunk"].text for e in events), "I look.\n")

    def test_structured_output(self):
        schema = {"title": "get_weather", "description": "Tells it.", "type": "object", "properties": {"city": {"type": "string"}}}
        self.assertEqual(self.model().with_structured_output(schema).invoke("Oslo?"), {"city": CITIES[0]})

    def test_images_and_errors(self):
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
        asked = []
        call = AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": "Oslo"}, "id": "1"}])
        self.model(asked=asked).bind_tools([TOOL]).invoke([HumanMessage([{"type": "text", "text": "Where?"}, image]), call, ToolMessage("no such city", tool_call_id="1", status="error")])
        self.assertEqual(asked[0][1].content, [{"type": "text", "text": "Where?"}, image])
        self.assertIn("no such city", asked[0][-1].text)


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


    def asks(self, output_type, write, prompt="q"):
        """What an agent makes of what a model writes, and what that was asked."""
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart
        from pydantic_ai.models.function import FunctionModel

        from utp_bx.pydantic_ai import WithTools

        asked = []

        def whole(messages, info):
            asked.append((messages, info))
            return ModelResponse(parts=[TextPart(write)])

        return Agent(WithTools(FunctionModel(whole)), output_type=output_type).run_sync(prompt), *asked[-1]

    def test_output_types(self):
        """As a call of a tool; and as text that the model is told to write, or held to."""
        from pydantic import BaseModel
        from pydantic_ai import NativeOutput, PromptedOutput

        class City(BaseModel):
            people: int

        run, messages, info = self.asks(City, '<tool_call>{"name": "final_result", "arguments": {"people": "7"}}</tool_call>')
        self.assertEqual(run.output, City(people=7))
        self.assertIn("you must call a tool", "".join(p.content for p in messages[0].parts))
        run, _, info = self.asks(PromptedOutput(City), '{"people": 7}')
        self.assertEqual(run.output, City(people=7))
        self.assertIn('"people"', info.instructions)
        run, _, info = self.asks(NativeOutput(City), '{"people": 7}')
        self.assertEqual((run.output, info.model_request_parameters.output_mode), (City(people=7), "native"))

    def test_thinking(self):
        run, *_ = self.asks(str, "<think>Hm.</think>Yes.")
        self.assertEqual([(p.part_kind, p.content) for p in run.all_messages()[-1].parts], [("thinking", "Hm."), ("text", "Yes.")])

    def test_files(self):
        """They reach the model where no tools are told, and else are refused, not left out."""
        from pydantic_ai import Agent, ImageUrl, UserError

        prompt = ["What is it?", ImageUrl("http://127.0.0.1/a.png")]
        _, messages, _ = self.asks(str, "A dog.", prompt)
        self.assertEqual(messages[-1].parts[-1].content, prompt)
        agent, _ = self.agent()
        self.assertIsInstance(agent, Agent)
        with self.assertRaisesRegex(UserError, "no ImageUrl"):
            agent.run_sync(prompt)


@needs(litellm, "litellm")
class LiteLLM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from litellm import CustomLLM

        from utp_bx.litellm import UtpLLM

        asked = cls.asked = []

        class Text(CustomLLM):
            def completion(self, model, messages, **more):
                assert not more["optional_params"].get("tools"), more
                asked.append(messages)
                text = "<think>Hm.</think>" * (model == "think") + says(str([m["content"] for m in messages]).replace("\\n", "\n"))
                return litellm.ModelResponse(model=model, choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}])

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

    def test_thinking_and_images(self):
        image = {"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}}
        message = litellm.completion("utp/text/think", [{"role": "user", "content": [{"type": "text", "text": "?"}, image]}], tools=[TOOL]).choices[0].message
        self.assertEqual((message.reasoning_content, message.content), ("Hm.", "I look.\n"))
        self.assertEqual(self.asked[-1][-1]["content"], [{"type": "text", "text": "?"}, image])

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
