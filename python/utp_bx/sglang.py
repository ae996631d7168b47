"""Plugin for SGLang 0.5: reads tool calls in any dialect, whole and streamed. SGLang
finds it by itself where this package is installed:

    python -m sglang.launch_server --model-path MODEL --tool-call-parser utp
"""

from __future__ import annotations

from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser

from utp_bx import Tools
from utp_bx.serving import Reader


class UtpDetector(BaseFormatDetector):  # type: ignore[misc]
    """Reads one reply; SGLang creates one for each choice."""

    def __init__(self) -> None:
        super().__init__()
        self._reader: Reader | None = None
        self._calls = 0

    def has_tool_call(self, text: str) -> bool:
        return True  # whether there is one is known when the text is read

    def supports_structural_tag(self) -> bool:
        return False  # any dialect may come

    def structure_info(self) -> Any:
        raise NotImplementedError("calls in any dialect have no one structure")

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        content, calls = Reader(offered(tools)).close(text)
        place = self._get_tool_indices(tools)
        return StreamingParseResult(
            normal_text=content, calls=[ToolCallItem(tool_index=place.get(c.name, -1), name=c.name, parameters=c.arguments_json) for c in calls]
        )

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        if self._reader is None:
            self._reader = Reader(offered(tools))
        return self._result(*self._reader.feed(new_text))

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        reader, self._reader = self._reader, None
        return self._result(*reader.close()) if reader else StreamingParseResult()

    def _result(self, content: str, calls: list[Any]) -> StreamingParseResult:
        items = []
        for call in calls:
            items.append(ToolCallItem(tool_index=self._calls, name=call.name, parameters=call.arguments_json))
            self._calls += 1
            self.current_tool_id = self._calls - 1
            self.prev_tool_call_arr.append({"name": call.name, "arguments": call.arguments or {}})
            self.streamed_args_for_tool.append(call.arguments_json)
        return StreamingParseResult(normal_text=content, calls=items)


def offered(tools: list[Any]) -> Tools | None:
    return Tools([t.model_dump(exclude_none=True) for t in tools]) if tools else None


def register() -> None:
    """The entry point: registers the parser with SGLang under the name utp."""
    FunctionCallParser.ToolCallParserEnum["utp"] = UtpDetector
