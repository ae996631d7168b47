"""One process of bx that answers the lines of many threads, loops and streams."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from pathlib import Path
from typing import Any, Protocol


class BxError(Exception):
    """bx could not do what it was asked for; the message says why."""


class BxNotFound(BxError):
    """There is no program bx."""


class BxCrashed(BxError):
    """The process of bx ended. What was open is lost; the next call starts it anew."""


def find_binary() -> str:
    """The program bx: the one of this package, else UTP_BX_BINARY, else of the PATH."""
    own = Path(__file__).parent / "bin" / ("bx.exe" if os.name == "nt" else "bx")
    if own.is_file():
        return str(own)
    named = os.environ.get("UTP_BX_BINARY")
    if named:
        return named
    found = shutil.which("bx")
    if found is None:
        raise BxNotFound("bx is not here: install the wheel of your platform, name the program in UTP_BX_BINARY, or put it on the PATH")
    return found


class Waiter(Protocol):
    """Who waits for an answer. Exactly one of the two is called, by the reading thread."""

    size: int

    def answer(self, line: bytes) -> None: ...
    def fail(self, why: BxCrashed) -> None: ...


class ThreadWaiter:
    """A thread that waits."""

    __slots__ = ("size", "_lock", "_line", "_why")

    def __init__(self) -> None:
        self.size = 0
        self._lock = threading.Lock()
        self._lock.acquire()
        self._line: bytes | None = None
        self._why: BxCrashed | None = None

    def answer(self, line: bytes) -> None:
        self._line = line
        self._lock.release()

    def fail(self, why: BxCrashed) -> None:
        self._why = why
        self._lock.release()

    def wait(self) -> bytes:
        self._lock.acquire()
        if self._line is None:
            raise BxCrashed(*self._why.args) if self._why else BxCrashed("bx ended")
        return self._line


class LoopWaiter:
    """A coroutine that waits."""

    __slots__ = ("size", "_loop", "future")

    def __init__(self) -> None:
        self.size = 0
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[bytes] = self._loop.create_future()

    def answer(self, line: bytes) -> None:
        self._call(self._set, line, None)

    def fail(self, why: BxCrashed) -> None:
        self._call(self._set, b"", BxCrashed(*why.args))

    def _set(self, line: bytes, why: BxCrashed | None) -> None:
        if self.future.done():
            return  # it was cancelled
        if why is None:
            self.future.set_result(line)
        else:
            self.future.set_exception(why)

    def _call(self, what: Any, *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(what, *args)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass


class _Nobody:
    """Waits for nothing."""

    size = 0

    def answer(self, line: bytes) -> None:
        pass

    def fail(self, why: BxCrashed) -> None:
        pass


class Pipe:
    """A running bx. Lines are answered in their order, one answer each."""

    #: So many bytes may be on their way before a coroutine hands its line to a thread:
    #: what an operating system's pipe holds at least, so that writing does not block.
    SMALL = 16 << 10

    def __init__(self, binary: str | None = None):
        self.pid = os.getpid()
        self._errors = tempfile.TemporaryFile()
        options: dict[str, Any] = {"start_new_session": True}  # Ctrl-C is for Python alone
        if sys.platform == "win32":
            options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
        try:
            self.process = subprocess.Popen(
                [binary or find_binary(), "parse", "--jsonl"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, **options
            )
        except OSError as e:
            self._errors.close()
            raise BxNotFound(f"bx cannot be started: {e}") from e
        assert self.process.stdin and self.process.stdout
        self._in, self._out = self.process.stdin, self.process.stdout
        self._write = threading.Lock()
        self._waiting: deque[Waiter] = deque()
        self._dropped: deque[bytes] = deque()
        self._sent = self._answered = 0
        self._dead: BxCrashed | None = None
        threading.Thread(target=self._read, name="utp_bx", daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._dead is None

    @property
    def on_the_way(self) -> int:
        """Bytes of lines that are not answered yet."""
        return self._sent - self._answered

    def send(self, line: bytes, waiter: Waiter) -> None:
        """Writes a line. It blocks while bx is busy and much is on its way."""
        with self._write:
            self._send(line, waiter)

    def try_send(self, line: bytes, waiter: Waiter) -> bool:
        """Writes a line if that blocks nobody."""
        if self.on_the_way + len(line) > self.SMALL or not self._write.acquire(blocking=False):
            return False
        try:
            self._send(line, waiter)
        finally:
            self._write.release()
        return True

    def drop(self, line: bytes) -> None:
        """Writes a line whose answer nobody wants, with the next one if need be: garbage
        is collected in any thread, also in one that is writing."""
        self._dropped.append(line)
        if self.on_the_way < self.SMALL and self._write.acquire(blocking=False):
            try:
                self._flush()
            finally:
                self._write.release()

    def _flush(self) -> None:
        while self._dropped and self._dead is None:
            self._put(self._dropped.popleft(), _Nobody())

    def _send(self, line: bytes, waiter: Waiter) -> None:
        self._flush()
        if self._dead is not None:
            raise BxCrashed(*self._dead.args)
        self._put(line, waiter)

    def _put(self, line: bytes, waiter: Waiter) -> None:
        waiter.size = len(line)
        self._sent += len(line)
        self._waiting.append(waiter)
        try:
            written = self._in.write(line)
            while written < len(line):
                line = line[written:]
                written = self._in.write(line)
        except BaseException as e:  # half a line may be written: nothing can follow it
            self.kill()
            if isinstance(e, OSError):
                return  # the reading thread sees the end, and tells all who wait
            raise

    def _read(self) -> None:
        begun: list[bytes] = []
        try:
            while chunk := self._out.read(1 << 16):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    if begun:
                        line = b"".join([*begun, line])
                        begun = []
                    if not self._waiting:
                        continue  # at its end bx names the streams that were left open
                    waiter = self._waiting.popleft()
                    self._answered += waiter.size
                    waiter.answer(line)
                if rest:
                    begun.append(rest)
        except (OSError, ValueError):
            pass  # closed
        finally:
            self._end()

    def _end(self) -> None:
        code = self.process.wait()
        self._errors.seek(0)
        words = self._errors.read(2000).decode("utf-8", "replace").strip()
        why = BxCrashed(f"bx ended ({code}); what was open in it is lost" + (f": {words}" if words else ""))
        self._dead = why
        with self._write:  # nobody joins the queue any more
            waiting, self._waiting = self._waiting, deque()
            self._in.close()
            self._out.close()
            self._errors.close()
        for waiter in waiting:
            waiter.fail(why)

    def kill(self) -> None:
        self.process.kill()

    def close(self, timeout: float = 2) -> None:
        """Ends bx: what it has not answered is not answered."""
        try:
            with self._write:
                self._in.close()
            self.process.wait(timeout)
        except (OSError, ValueError):
            pass
        except subprocess.TimeoutExpired:
            self.kill()

    def forget(self) -> None:
        """Lets go of a process that belongs to the parent of a fork."""
        for end in (self._in, self._out, self._errors):
            try:
                end.close()
            except (OSError, ValueError):
                pass
        self._write = threading.Lock()
        self.process.returncode = 0  # it is not this process's child to wait for
        self._dead = BxCrashed("this was opened before a fork, in the parent: open it anew here")


def decoded(line: bytes) -> dict[str, Any]:
    """An answer. One that holds an error raises it."""
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        words: str = answer["error"]
        head, _, tail = words.partition(": ")
        raise BxError(tail if head.startswith("line ") and tail else words)
    return answer
