"""Plugin for vLLM 0.33: reads tool calls in any dialect, whole and streamed.

    vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin utp_bx.vllm --tool-call-parser utp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

from utp_bx import Tools
from utp_bx.serving import Reader


class UtpToolParser(ToolParser):  # type: ignore[misc]
    """Reads one reply; vLLM creates one for each request."""

    engine_based_streaming = True  # vLLM then asks for what is held at the end
    supports_required_and_named = False  # else those choices pass this parser by

    def __init__(self, tokenizer: Any, tools: Any = None):
        super().__init__(tokenizer, tools)
        self._reader: Reader | None = None
        self._calls = 0

    def adjust_request(self, request: Any) -> Any:
        request = super().adjust_request(request)
        if request.tools and request.tool_choice != "none":
            request.skip_special_tokens = False  # markers of calls are such tokens
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        content, calls = Reader(offered(request)).close(model_output)
        return ExtractedToolCallInformation(
            tools_called=bool(calls),
            tool_calls=[ToolCall(function=FunctionCall(name=c.name, arguments=c.arguments_json)) for c in calls],
            content=content or None,
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        if self._reader is None:
            self._reader = Reader(offered(request))
        return self._message(*self._reader.feed(delta_text))

    def finish_streaming(self) -> DeltaMessage | None:
        reader, self._reader = self._reader, None
        return self._message(*reader.close()) if reader else None

    def _message(self, content: str, calls: list[Any]) -> DeltaMessage | None:
        if not content and not calls:
            return None
        deltas = []
        for call in calls:
            function = DeltaFunctionCall(name=call.name, arguments=call.arguments_json)
            deltas.append(DeltaToolCall(id=ToolCall(function=FunctionCall(name=call.name, arguments="")).id, type="function", index=self._calls, function=function))
            self._calls += 1
            self.prev_tool_call_arr.append({"name": call.name, "arguments": call.arguments_json})
            self.streamed_args_for_tool.append(call.arguments_json)
        return DeltaMessage(content=content or None, tool_calls=deltas)


def offered(request: Any) -> Tools | None:
    """The tools of a request, of chat completions or of Responses."""
    return Tools([t.model_dump(exclude_none=True) for t in request.tools]) if request.tools else None


def register() -> None:
    """Registers the parser with vLLM under the name utp."""
    ToolParserManager.register_module("utp", module=UtpToolParser)


register()
