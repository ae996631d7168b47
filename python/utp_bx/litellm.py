"""A handler for LiteLLM: tools for models without tools, and calls in any dialect.

    litellm.custom_provider_map = [{"provider": "utp", "custom_handler": UtpLLM()}]
    litellm.completion("utp/ollama_chat/qwen2.5", messages, tools=tools)
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import litellm
from litellm.llms.custom_llm import CustomLLM

from . import Event, Rendered, Reply, Stream, aparse, parse, render_messages


class UtpLLM(CustomLLM):
    """Asks the model whose name follows "utp/". Tools are written in dialect, or else in
    the model's own. Calls are read in every dialect."""

    def __init__(self, dialect: str | None = None):
        super().__init__()
        self._dialect = dialect

    def _ask(self, model: str, messages: list[Any], more: dict[str, Any]) -> tuple[list[Any] | None, dict[str, Any]]:
        left = dict(more["optional_params"])
        tools, choice = left.pop("tools", None), left.pop("tool_choice", None)
        left.pop("stream", None)
        if tools or any(m.get("tool_calls") or m["role"] == "tool" for m in messages):
            told: Rendered = render_messages(messages, tools or [], self._dialect, model=model, tool_choice=choice)
            messages = told.messages
        for key in ("api_base", "api_key", "timeout"):
            if more.get(key):
                left[key] = more[key]
        return tools, {"model": model, "messages": messages, **left}

    def completion(self, model: str, messages: list[Any], *_: Any, **more: Any) -> Any:
        tools, ask = self._ask(model, messages, more)
        said = litellm.completion(**ask)
        return _filled(said, parse(said.choices[0].message.content or "", tools))

    async def acompletion(self, model: str, messages: list[Any], *_: Any, **more: Any) -> Any:
        tools, ask = await asyncio.to_thread(self._ask, model, messages, more)
        said = await litellm.acompletion(**ask)
        return _filled(said, await aparse(said.choices[0].message.content or "", tools))

    def streaming(self, model: str, messages: list[Any], *_: Any, **more: Any) -> Iterator[Any]:
        tools, ask = self._ask(model, messages, more)
        said = (part.choices[0].delta.content or "" for part in litellm.completion(**ask, stream=True) if part.choices)
        stream, n = Stream(tools), 0
        for event in stream.events(said):
            if (chunk := _chunk(event, n)) is not None:
                n += chunk["tool_use"] is not None
                yield chunk
        yield _end(n)

    async def astreaming(self, model: str, messages: list[Any], *_: Any, **more: Any) -> Any:  # an async iterator; LiteLLM's hint says a coroutine
        tools, ask = await asyncio.to_thread(self._ask, model, messages, more)
        said = (part.choices[0].delta.content or "" async for part in await litellm.acompletion(**ask, stream=True) if part.choices)
        stream, n = Stream(tools), 0
        async for event in stream.aevents(said):
            if (chunk := _chunk(event, n)) is not None:
                n += chunk["tool_use"] is not None
                yield chunk
        yield _end(n)


def _filled(said: Any, reply: Reply) -> Any:
    """The answer with what is in its text."""
    message = said.choices[0].message
    message.content = reply.content or None
    if reply.reasoning:
        message.reasoning_content = reply.reasoning
    if reply.tool_calls:
        calls: list[Any] = [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments_json}} for c in reply.tool_calls]
        message.tool_calls = [*(message.tool_calls or ()), *(litellm.Message(role="assistant", content=None, tool_calls=calls).tool_calls or ())]
        said.choices[0].finish_reason = "tool_calls"
    return said


def _chunk(e: Event, n: int) -> dict[str, Any] | None:
    call: dict[str, Any] | None = None
    if e.call is not None:
        call = {"id": e.call.id, "type": "function", "index": n, "function": {"name": e.call.name, "arguments": e.call.arguments_json}}
    text = e.text if e.kind in ("text", "problem") else ""
    if call is None and not text:
        return None
    return {"text": text, "tool_use": call, "is_finished": False, "finish_reason": "", "usage": None, "index": 0}


def _end(calls: int) -> dict[str, Any]:
    return {"text": "", "tool_use": None, "is_finished": True, "finish_reason": "tool_calls" if calls else "stop", "usage": None, "index": 0}
