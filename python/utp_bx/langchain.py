"""A chat model of LangChain around any other: tools for models without tools, and calls
in any dialect.

    model = WithTools(model=ChatOllama(model="qwen2.5"), model_name="qwen2.5").bind_tools([...])
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from . import Call, Event, Reply, Stream, aparse, parse, render_messages

_ALONE: Any = {"callbacks": []}  # who listens to a chain hears what was read, not the text too


class WithTools(BaseChatModel):
    """Writes tools in dialect, or else in the first one of model_name. Calls are read in
    every dialect."""

    model: BaseChatModel
    model_name: str | None = None
    dialect: str | None = None

    @property
    def _llm_type(self) -> str:
        return "utp-" + self.model._llm_type

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        if tool_choice is True or tool_choice == "any":
            tool_choice = "required"
        elif isinstance(tool_choice, str) and tool_choice not in ("auto", "none", "required"):
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        return self.bind(tools=[convert_to_openai_tool(t) for t in tools], tool_choice=tool_choice, **kwargs)

    def _told(self, messages: list[BaseMessage], options: dict[str, Any]) -> tuple[list[Any], list[dict[str, Any]], dict[str, Any]]:
        """The messages for the model, the tools, and the remaining options."""
        left = dict(options)
        tools, choice = left.pop("tools", None) or [], left.pop("tool_choice", None)
        if not tools and not any(m.type == "tool" or getattr(m, "tool_calls", None) for m in messages):
            return messages, tools, left
        told = render_messages(convert_to_openai_messages(messages), tools, self.dialect, model=self.model_name, tool_choice=choice)
        return convert_to_messages(told.messages), tools, left

    def _result(self, message: AIMessage, reply: Reply) -> ChatResult:
        extra = {**message.additional_kwargs, **({"reasoning_content": reply.reasoning} if reply.reasoning else {})}
        read = {"content": reply.content, "tool_calls": [*message.tool_calls, *map(_call, reply.tool_calls)], "additional_kwargs": extra}
        return ChatResult(generations=[ChatGeneration(message=message.model_copy(update=read))])

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        told, tools, left = self._told(messages, kwargs)
        message = self.model.invoke(told, _ALONE, stop=stop, **left)
        return self._result(message, parse(message.text, tools or None))

    async def _agenerate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        told, tools, left = await asyncio.to_thread(self._told, messages, kwargs)
        message = await self.model.ainvoke(told, _ALONE, stop=stop, **left)
        return self._result(message, await aparse(message.text, tools or None))

    def _stream(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        told, tools, left = self._told(messages, kwargs)
        stream = Stream(tools or None)
        for said in self.model.stream(told, _ALONE, stop=stop, **left):
            yield from _chunks(stream.feed(said.text), said)
        yield from _chunks(stream.close().events)

    async def _astream(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        told, tools, left = await asyncio.to_thread(self._told, messages, kwargs)
        stream = Stream(tools or None)
        async for said in self.model.astream(told, _ALONE, stop=stop, **left):
            for chunk in _chunks(await stream.afeed(said.text), said):
                yield chunk
        for chunk in _chunks((await stream.aclose()).events):
            yield chunk


def _call(c: Call) -> Any:
    return tool_call(name=c.name, args={"input": c.raw_arguments} if c.raw_arguments else c.arguments or {}, id=c.id)


def _chunks(events: list[Event], said: AIMessageChunk | None = None) -> Iterator[ChatGenerationChunk]:
    """What is in a piece, and what the model said beside its text."""
    for e in events:
        chunk = AIMessageChunk(content=e.text if e.kind in ("text", "problem") else "")
        if e.kind == "think":
            chunk.additional_kwargs["reasoning_content"] = e.text
        elif e.call is not None:
            chunk = AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=e.call.name, args=e.call.arguments_json, id=e.call.id, index=e.part)])
        elif not chunk.content:
            continue
        yield ChatGenerationChunk(message=chunk)
    if said is not None and (said.usage_metadata or said.response_metadata or said.additional_kwargs or said.tool_call_chunks):
        yield ChatGenerationChunk(message=said.model_copy(update={"content": "", "chunk_position": None}))
