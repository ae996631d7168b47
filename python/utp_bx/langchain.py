"""A chat model of LangChain around any other: tools for models without tools, and calls
in any dialect.

    model = WithTools(model=ChatOllama(model="qwen2.5"), model_name="qwen2.5").bind_tools([...])
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from . import Call, Event, Stream, aparse, parse, render_messages


class WithTools(BaseChatModel):
    """dialect, or the first of model_name, is the one that tools are told in; calls are
    read in every one."""

    model: BaseChatModel
    model_name: str | None = None
    dialect: str | None = None

    @property
    def _llm_type(self) -> str:
        return "utp-" + self.model._llm_type

    def bind_tools(self, tools: Sequence[dict[str, Any] | type | Callable[..., Any]], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        if tool_choice is True or tool_choice == "any":
            tool_choice = "required"
        elif isinstance(tool_choice, str) and tool_choice not in ("auto", "none", "required"):
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        return self.bind(tools=[convert_to_openai_tool(t) for t in tools], tool_choice=tool_choice, **kwargs)

    def _told(self, messages: list[BaseMessage], options: dict[str, Any]) -> tuple[list[Any], list[dict[str, Any]], dict[str, Any]]:
        """The messages for the model, the tools, and what is left of the options."""
        left = dict(options)
        tools, choice = left.pop("tools", None) or [], left.pop("tool_choice", None)
        if not tools and not any(m.type == "tool" or getattr(m, "tool_calls", None) for m in messages):
            return messages, tools, left
        given = convert_to_openai_messages(messages)
        told = render_messages(given, tools, self.dialect, model=self.model_name, tool_choice=choice)
        return convert_to_messages(told.messages), tools, left

    def _result(self, message: BaseMessage, reply: Any) -> ChatResult:
        calls = [_call(c) for c in reply.tool_calls]
        said = AIMessage(content=reply.content, tool_calls=calls, id=message.id, response_metadata=message.response_metadata)
        said.usage_metadata = getattr(message, "usage_metadata", None)
        if reply.reasoning:
            said.additional_kwargs["reasoning_content"] = reply.reasoning
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        told, tools, left = self._told(messages, kwargs)
        message = self.model.invoke(told, stop=stop, **left)
        return self._result(message, parse(message.text, tools or None))

    async def _agenerate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        told, tools, left = self._told(messages, kwargs)
        message = await self.model.ainvoke(told, stop=stop, **left)
        return self._result(message, await aparse(message.text, tools or None))

    def _stream(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        told, tools, left = self._told(messages, kwargs)
        said = (chunk.text for chunk in self.model.stream(told, stop=stop, **left))
        for event in Stream(tools or None).events(said):
            if (chunk := _chunk(event)) is not None:
                yield chunk

    async def _astream(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        told, tools, left = self._told(messages, kwargs)
        said = (chunk.text async for chunk in self.model.astream(told, stop=stop, **left))
        async for event in Stream(tools or None).aevents(said):
            if (chunk := _chunk(event)) is not None:
                yield chunk


def _call(c: Call) -> Any:
    return tool_call(name=c.name, args=c.arguments or {"input": c.raw_arguments} if c.raw_arguments else c.arguments or {}, id=c.id)


def _chunk(e: Event) -> ChatGenerationChunk | None:
    if e.kind in ("text", "problem") and e.text:
        return ChatGenerationChunk(message=AIMessageChunk(content=e.text))
    if e.call is None:
        return None
    part = tool_call_chunk(name=e.call.name, args=e.call.arguments_json, id=e.call.id, index=e.part)
    return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[part]))
