"""Reads texts and streams, writes prompts and translates, with a process of bx."""

from __future__ import annotations

import asyncio
import atexit
import itertools
import json
import os
import sys
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .pipe import BxCrashed, BxError, LoopWaiter, Pipe, decoded
from .reply import Event, Json, Rendered, Reply, ToolList, Tools, Translation, event_of, reply_of, written

if TYPE_CHECKING:
    from typing_extensions import Self


class Bx:
    """A bx process of one's own; the functions of the module share one. It starts with the
    first call, and again after a crash or a fork. It is safe for threads, event loops and
    forks. It ends with close, with its with block, or when it is garbage-collected."""

    _all: ClassVar[weakref.WeakSet[Bx]] = weakref.WeakSet()

    def __init__(self, binary: str | None = None):
        self._binary = binary
        self._ids = itertools.count(1)
        self._pipe: Pipe | None = None
        self._lock = threading.Lock()
        Bx._all.add(self)

    def parse(self, text: str | Json | Sequence[Json], tools: ToolList | None = None, **options: Any) -> Reply:
        """See utp_bx.parse."""
        return reply_of(self._ask(self._parse(text, tools, **options)))

    async def aparse(self, text: str | Json | Sequence[Json], tools: ToolList | None = None, **options: Any) -> Reply:
        """See utp_bx.aparse."""
        return reply_of(await self._aask(self._parse(text, tools, **options)))

    def _parse(
        self,
        text: str | Json | Sequence[Json],
        tools: ToolList | None,
        *,
        model: str | None = None,
        grammar: str | None = None,
        prefill: str | None = None,
        policy: str | None = None,
        cut: bool | None = None,
        kind: str | None = None,
    ) -> bytes:
        kind = kind or ("text" if isinstance(text, str) else "reply")
        return _line(next(self._ids), "parse", tools, input=text, kind=kind, model=model, grammar=grammar, prefill=prefill, policy=policy, cut=cut)

    def render(self, tools: ToolList, dialect: str | None = None, *, model: str | None = None) -> str:
        """See utp_bx.render."""
        text: str = self._ask(_line(next(self._ids), "render", tools, grammar=dialect, model=model))["text"]
        return text

    def render_messages(
        self, messages: Sequence[Mapping[str, Any]], tools: ToolList, dialect: str | None = None, *, model: str | None = None, tool_choice: Any = None
    ) -> Rendered:
        """See utp_bx.render_messages."""
        j = self._ask(self._told(messages, tools, dialect, model, tool_choice))
        return Rendered(j["grammar"], j["messages"])

    async def arender_messages(
        self, messages: Sequence[Mapping[str, Any]], tools: ToolList, dialect: str | None = None, *, model: str | None = None, tool_choice: Any = None
    ) -> Rendered:
        """See utp_bx.arender_messages."""
        j = await self._aask(self._told(messages, tools, dialect, model, tool_choice))
        return Rendered(j["grammar"], j["messages"])

    def _told(self, messages: Sequence[Mapping[str, Any]], tools: ToolList, dialect: str | None, model: str | None, tool_choice: Any) -> bytes:
        return _line(next(self._ids), "render", tools, messages=list(messages), grammar=dialect, model=model, tool_choice=tool_choice)

    def translate(self, source: str, target: str, value: Any, kind: str = "request", *, model: str | None = None) -> Translation:
        """See utp_bx.translate."""
        line = _line(next(self._ids), "translate", None, **{"from": source, "to": target, "kind": kind, "input": value, "model": model})
        j = self._ask(line)
        return Translation(j["output"], j["losses"], j.get("path", ""), j.get("header") or {}, j.get("broken", ""))

    def close(self) -> None:
        """Ends the process and its open streams. The next call starts it again."""
        with self._lock:
            if self._pipe is not None:
                self._pipe.close()
            self._pipe = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        pipe: Pipe | None = getattr(self, "_pipe", None)
        if pipe is not None:
            pipe.abandon()

    @property
    def process_id(self) -> int | None:
        """The process id of the running bx, None if there is none."""
        pipe = self._usable()
        return pipe.process.pid if pipe is not None else None

    def _running(self) -> Pipe:
        pipe = self._usable()
        if pipe is not None:
            return pipe
        with self._lock:
            pipe = self._pipe = self._usable() or Pipe(self._binary)
            return pipe

    async def _arunning(self) -> Pipe:
        pipe = self._usable()
        return pipe if pipe is not None else await asyncio.get_running_loop().run_in_executor(None, self._running)

    def _usable(self) -> Pipe | None:
        pipe = self._pipe
        return pipe if pipe is not None and pipe.pid == os.getpid() and pipe.alive else None

    def _ask(self, line: bytes, pipe: Pipe | None = None) -> Json:
        return decoded((pipe or self._running()).ask(line))

    async def _aask(self, line: bytes, pipe: Pipe | None = None) -> Json:
        waiter = LoopWaiter()
        pipe = pipe or await self._arunning()
        try:
            if not pipe.try_send(line, waiter):
                await asyncio.get_running_loop().run_in_executor(None, pipe.send, line, waiter)
            return decoded(await waiter.future)
        except BaseException:
            waiter.future.cancel()
            raise

    def _forked(self) -> None:
        self._lock = threading.Lock()
        if self._pipe is not None:
            self._pipe.forget()
        self._pipe = None


def _line(id: int, op: str, tools: ToolList | None, **rest: Any) -> bytes:
    """A request line as in docs/parse.md, without the fields that are None."""
    fields = [f'{{"id":{id},"op":"{op}"', *(f'"{k}":{written(v)}' for k, v in rest.items() if v is not None)]
    if tools is not None:  # last, where bx knows them again without reading them
        fields.append(f'"tools":{(tools if isinstance(tools, Tools) else Tools(tools)).json}')
    return f"{','.join(fields)}}}\n".encode()


def _text(piece: str) -> bytes:
    if not isinstance(piece, str):
        raise BxError(f"a piece is a str, not {type(piece).__name__}")
    return json.dumps(piece).encode()


class Stream:
    """A text that comes in pieces, as a model writes it.

        with Stream(tools) as stream:
            for piece in pieces:
                for event in stream.feed(piece):
                    ...
        stream.reply.tool_calls

    The options are those of parse. In a coroutine use afeed, aclose, aevents.
    """

    def __init__(
        self,
        tools: ToolList | None = None,
        *,
        model: str | None = None,
        grammar: str | None = None,
        prefill: str | None = None,
        policy: str | None = None,
        bx: Bx | None = None,
    ):
        self._bx = bx or _shared
        self._id = next(self._bx._ids)
        self._opening: bytes | None = _line(self._id, "open", tools, model=model, grammar=grammar, prefill=prefill, policy=policy)
        self._pipe: Pipe | None = None
        self._reply: Reply | None = None
        self._closed = False
        self._broken = ""  # why it can no longer be used

    @property
    def reply(self) -> Reply:
        """The whole reply, once the stream is closed."""
        if self._reply is None:
            raise BxError(self._broken or "the stream is not closed: its reply is not known yet")
        return self._reply

    def feed(self, piece: str) -> list[Event]:
        """Adds a piece. Returns the events that are certain now, often none."""
        line = self._fed(piece)
        self._open()
        try:
            answer = self._bx._ask(line, self._pipe)
        except BaseException as e:
            self._spoil(e)
            raise
        return [event_of(e) for e in answer["events"]]

    def close(self, piece: str = "", *, cut: bool = False) -> Reply:
        """Ends the text with a last piece and returns its reply. cut: the server cut it off."""
        if self._reply is None:
            line = self._last(piece, cut)
            self._open()
            self._closed = True
            try:
                self._reply = reply_of(self._bx._ask(line, self._pipe))
            except BaseException as e:
                self._spoil(e)
                raise
        return self._reply

    def events(self, pieces: Iterable[str]) -> Iterator[Event]:
        """Yields the events of all pieces and of the end. After that, reply is set."""
        for piece in pieces:
            yield from self.feed(piece)
        yield from self.close().events

    async def afeed(self, piece: str) -> list[Event]:
        """feed, for coroutines."""
        line = self._fed(piece)
        await self._aopen()
        try:
            answer = await self._bx._aask(line, self._pipe)
        except BaseException as e:
            self._spoil(e)
            raise
        return [event_of(e) for e in answer["events"]]

    async def aclose(self, piece: str = "", *, cut: bool = False) -> Reply:
        """close, for coroutines."""
        if self._reply is None:
            line = self._last(piece, cut)
            await self._aopen()
            self._closed = True
            try:
                self._reply = reply_of(await self._bx._aask(line, self._pipe))
            except BaseException as e:
                self._spoil(e)
                raise
        return self._reply

    async def aevents(self, pieces: AsyncIterable[str]) -> AsyncIterator[Event]:
        """events, for coroutines."""
        async for piece in pieces:
            for event in await self.afeed(piece):
                yield event
        for event in (await self.aclose()).events:
            yield event

    def _fed(self, piece: str) -> bytes:
        return b'{"id":%d,"op":"feed","piece":%s}\n' % (self._id, _text(piece))

    def _last(self, piece: str, cut: bool) -> bytes:
        return b'{"id":%d,"op":"close","piece":%s,"cut":%s}\n' % (self._id, _text(piece), b"true" if cut else b"false")

    def _open(self) -> None:
        if self._opening is not None:
            line, self._opening = self._opening, None
            try:
                self._pipe = self._bx._running()
                self._bx._ask(line, self._pipe)
            except BaseException as e:
                self._spoil(e, opening=True)
                raise
        self._check()

    async def _aopen(self) -> None:
        if self._opening is not None:
            line, self._opening = self._opening, None
            try:
                self._pipe = await self._bx._arunning()
                await self._bx._aask(line, self._pipe)
            except BaseException as e:
                self._spoil(e, opening=True)
                raise
        self._check()

    def _spoil(self, e: BaseException, opening: bool = False) -> None:
        """Records why the stream can no longer be used, for later calls: bx did not open it,
        or after an interrupt or a cancellation it is not known which pieces bx has."""
        if not isinstance(e, BxError):
            self._drop()
            self._broken = "the stream was interrupted, so that a piece may be missing: begin a new one"
        elif opening and not isinstance(e, BxCrashed):
            self._broken = f"the stream could not be opened: {e}"

    def _check(self) -> None:
        if self._broken:
            raise BxError(self._broken)
        if self._closed:
            raise BxError("the stream is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._drop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None:
            await self.aclose()
        else:
            self._drop()

    def __del__(self) -> None:
        self._drop()

    def _drop(self) -> None:
        """Gives up a stream that nobody will close."""
        pipe = getattr(self, "_pipe", None)
        if pipe is not None and not self._closed and not self._broken and pipe.pid == os.getpid() and pipe.alive:
            pipe.drop(_line(self._id, "close", None))
        self._closed = True


_shared = Bx()


def parse(
    text: str | Json | Sequence[Json],
    tools: ToolList | None = None,
    *,
    model: str | None = None,
    grammar: str | None = None,
    prefill: str | None = None,
    policy: str | None = None,
    cut: bool | None = None,
    kind: str | None = None,
) -> Reply:
    """Reads a model's text or, given an object, a provider's whole reply.

    tools: those offered, by which names and arguments are checked and repaired.
    model, grammar: hints. prefill: how the prompt ended, such as "<think>".
    policy: as "unknown=text,repair=off". cut: the server cut the text off. kind: "auto"
    takes a text for a reply if a provider's envelope is around it.
    """
    return _shared.parse(text, tools, model=model, grammar=grammar, prefill=prefill, policy=policy, cut=cut, kind=kind)


async def aparse(
    text: str | Json | Sequence[Json],
    tools: ToolList | None = None,
    *,
    model: str | None = None,
    grammar: str | None = None,
    prefill: str | None = None,
    policy: str | None = None,
    cut: bool | None = None,
    kind: str | None = None,
) -> Reply:
    """parse, for coroutines."""
    return await _shared.aparse(text, tools, model=model, grammar=grammar, prefill=prefill, policy=policy, cut=cut, kind=kind)


def render(tools: ToolList, dialect: str | None = None, *, model: str | None = None) -> str:
    """Returns the text on tools for a system prompt, in the named dialect, else the
    model's, else Hermes'."""
    return _shared.render(tools, dialect, model=model)


def render_messages(
    messages: Sequence[Mapping[str, Any]], tools: ToolList, dialect: str | None = None, *, model: str | None = None, tool_choice: Any = None
) -> Rendered:
    """Returns messages of OpenAI's chat for a model without tools: the tools are in the
    system message, earlier calls and their results are text."""
    return _shared.render_messages(messages, tools, dialect, model=model, tool_choice=tool_choice)


async def arender_messages(
    messages: Sequence[Mapping[str, Any]], tools: ToolList, dialect: str | None = None, *, model: str | None = None, tool_choice: Any = None
) -> Rendered:
    """render_messages, for coroutines."""
    return await _shared.arender_messages(messages, tools, dialect, model=model, tool_choice=tool_choice)


def translate(source: str, target: str, value: Any, kind: str = "request", *, model: str | None = None) -> Translation:
    """Translates one provider's JSON into another's: "anthropic", "gemini", "ollama",
    "openai", "responses". kind: "request", "response", or "stream" with its text."""
    return _shared.translate(source, target, value, kind, model=model)


def _after_fork() -> None:
    for bx in list(Bx._all):
        bx._forked()


def _at_exit() -> None:
    for bx in list(Bx._all):
        bx.close()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
