"""A model of pydantic-ai around any other: tools for models without, calls in any dialect.

    agent = Agent(WithTools("ollama:qwen2.5"), tools=[...])
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from pydantic_ai import UserError, messages as m
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from . import Stream, aparse, arender_messages


class WithTools(WrapperModel):
    """Writes tools in dialect, or else in the model's own. Calls are read in every dialect."""

    def __init__(self, wrapped: Model | str, dialect: str | None = None):
        super().__init__(wrapped)
        self._dialect = dialect

    async def _told(self, given: Sequence[m.ModelMessage], params: ModelRequestParameters) -> tuple[list[m.ModelMessage], ModelRequestParameters, list[dict[str, Any]]]:
        """The conversation as text, what the model is asked for, and the tools."""
        tools = [{"name": t.name, "description": t.description or "", "parameters": t.parameters_json_schema} for t in [*params.function_tools, *params.output_tools]]
        mode: Any = {} if params.output_mode in ("native", "prompted") else {"output_mode": "text", "allow_text_output": True}
        plain = replace(params, function_tools=[], output_tools=[], **mode)
        if not tools and not any(p.part_kind in ("tool-call", "tool-return") for message in given for p in message.parts):
            return list(given), plain, tools
        chat, choice = [d for message in given for d in _openai(message)], "required" if tools and (params.output_mode == "auto" or not params.allow_text_output) else None
        told = await arender_messages(chat, tools, self._dialect, model=self.wrapped.model_name, tool_choice=choice)
        out: list[m.ModelMessage] = []
        for d in told.messages:
            if d["role"] == "assistant":
                out.append(m.ModelResponse(parts=[m.TextPart(d["content"] or "")]))
            else:
                before = out.pop().parts if out and isinstance(out[-1], m.ModelRequest) else []
                out.append(m.ModelRequest(parts=[*before, (m.SystemPromptPart if d["role"] == "system" else m.UserPromptPart)(d["content"])], instructions=getattr(given[-1], "instructions", None)))
        return out, plain, tools

    async def request(self, messages: list[m.ModelMessage], model_settings: Any, model_request_parameters: ModelRequestParameters) -> m.ModelResponse:
        told, plain, tools = await self._told(messages, model_request_parameters)
        said = await self.wrapped.request(told, model_settings, plain)
        reply = await aparse("".join(p.content for p in said.parts if isinstance(p, m.TextPart)), tools or None)
        parts: list[Any] = [p for p in said.parts if not isinstance(p, m.TextPart)]
        parts += [m.ThinkingPart(reply.reasoning)] * bool(reply.reasoning) + [m.TextPart(reply.content)] * bool(reply.content.strip())
        return replace(said, parts=[*parts, *(m.ToolCallPart(c.name, c.arguments_json, c.id) for c in reply.tool_calls)])

    @asynccontextmanager
    async def request_stream(self, messages: list[m.ModelMessage], model_settings: Any, model_request_parameters: ModelRequestParameters, run_context: Any = None) -> AsyncIterator[StreamedResponse]:
        told, plain, tools = await self._told(messages, model_request_parameters)
        async with self.wrapped.request_stream(told, model_settings, plain, run_context) as said:
            yield _Read(model_request_parameters=model_request_parameters, said=said, stream=Stream(tools or None))


@dataclass
class _Read(StreamedResponse):
    said: StreamedResponse
    stream: Stream

    async def _text(self) -> AsyncIterator[str]:
        async for e in self.said:
            match e:
                case m.PartStartEvent(part=m.TextPart(content=text)) | m.PartDeltaEvent(delta=m.TextPartDelta(content_delta=text)):
                    yield text

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for e in self.stream.aevents(self._text()):
            if e.kind in ("text", "problem", "think") and e.text:
                add = self._parts_manager.handle_thinking_delta if e.kind == "think" else self._parts_manager.handle_text_delta
                for event in add(vendor_part_id=f"{e.kind} {e.part}", content=e.text):
                    yield event
            elif e.call is not None:
                yield self._parts_manager.handle_tool_call_part(vendor_part_id=e.part, tool_name=e.call.name, args=e.call.arguments_json, tool_call_id=e.call.id)
        self._usage, self.finish_reason = self.said._usage, self.said.finish_reason

    model_name, provider_name, provider_url, timestamp = (property(attrgetter("said." + n)) for n in ("model_name", "provider_name", "provider_url", "timestamp"))


def _openai(message: m.ModelMessage) -> list[dict[str, Any]]:
    if isinstance(message, m.ModelResponse):
        calls = [{"id": p.tool_call_id, "type": "function", "function": {"name": p.tool_name, "arguments": p.args_as_json_str()}} for p in message.parts if isinstance(p, m.ToolCallPart)]
        return [{"role": "assistant", "content": "".join(p.content for p in message.parts if isinstance(p, m.TextPart)), **({"tool_calls": calls} if calls else {})}]
    out: list[dict[str, Any]] = []
    for p in message.parts:
        if isinstance(p, m.ToolReturnPart):
            out.append({"role": "tool", "tool_call_id": p.tool_call_id, "content": p.model_response_str()})
        elif isinstance(p, m.RetryPromptPart):
            out.append({"content": p.model_response(), **({"role": "tool", "tool_call_id": p.tool_call_id} if p.tool_name else {"role": "user"})})
        elif isinstance(p, (m.SystemPromptPart, m.UserPromptPart)):
            content: list[Any] = [p.content] if isinstance(p.content, str) else list(p.content)
            if files := [type(c).__name__ for c in content if not isinstance(c, (str, m.TextContent))]:
                raise UserError(f"WithTools tells a model the texts of a prompt, and no {files[0]}")
            out.append({"role": p.part_kind.partition("-")[0], "content": "\n".join(c if isinstance(c, str) else c.content for c in content)})
    return out
