"""The common part of the plugins for model servers: a text in pieces becomes content and
calls. Each call is passed on only when complete, since a server cannot take one back."""

from __future__ import annotations

from collections.abc import Iterable

from .engine import Stream
from .reply import Call, Event, ToolList


class Reader:
    """Reads one reply. Thinking is content here, in its tags: where the server has a
    reader of reasoning, it takes it out before."""

    def __init__(self, tools: ToolList | None):
        self._stream = Stream(tools)
        self._thinks = False

    def feed(self, piece: str) -> tuple[str, list[Call]]:
        """The content and the calls that are certain after a piece."""
        return self._told(self._stream.feed(piece))

    def close(self, piece: str = "") -> tuple[str, list[Call]]:
        """The content and the calls of the end."""
        text, calls = self._told(self._stream.close(piece).events)
        return (text + "</think>" if self._thinks else text), calls

    def _told(self, events: Iterable[Event]) -> tuple[str, list[Call]]:
        text: list[str] = []
        calls: list[Call] = []
        for e in events:
            if e.kind == "think" and not self._thinks:
                text.append("<think>")
            elif e.kind in ("text", "call-start", "problem") and self._thinks:
                text.append("</think>")
            self._thinks = e.kind == "think" or (self._thinks and e.kind == "mark")
            if e.kind in ("text", "think", "problem"):
                text.append(e.text)
            elif e.call is not None:
                calls.append(e.call)
        return "".join(text), calls
