"""A process of bx that serves many threads, event loops and streams."""

from __future__ import annotations

import asyncio
import json
import math
import os
import queue
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO, Any, Protocol


class BxError(Exception):
    """bx could not do what it was asked; the message says why."""


class BxNotFound(BxError):
    """The program bx was not found, or could not be started."""


class BxCrashed(BxError):
    """The process of bx ended. Open streams are lost; the next call starts it again."""


def find_binary() -> str:
    """Returns the path of bx: from UTP_BX_BINARY, else in this package, else on the PATH."""
    named = os.environ.get("UTP_BX_BINARY")
    if named:
        return named
    own = Path(__file__).parent / "bin" / ("bx.exe" if os.name == "nt" else "bx")
    if own.is_file():
        return str(own)
    found = shutil.which("bx")
    if found is None:
        raise BxNotFound("bx was not found: install the wheel of your platform, name the program in UTP_BX_BINARY, or put it on the PATH")
    return found


def _errors_file() -> IO[bytes]:
    """A file for the stderr of bx, or the null device if no folder is writable."""
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError:
        return open(os.devnull, "r+b", buffering=0)


class Waiter(Protocol):
    """A caller that waits for an answer. The reader calls answer or fail; it may call
    fail after answer if reading was interrupted."""

    size: int
    sleeps: bool

    @property
    def given_up(self) -> bool:
        """Whether its line need not be written any more."""
        ...


    def answer(self, line: bytes) -> None: ...
    def fail(self, why: BxCrashed) -> None: ...


class ThreadWaiter:
    """A thread that waits."""

    __slots__ = ("_lock", "_why", "line", "size")
    sleeps = True
    given_up = False

    def __init__(self) -> None:
        self.size = 0
        self.line: bytes | None = None
        self._lock = threading.Lock()
        self._lock.acquire()
        self._why: BxCrashed | None = None

    def answer(self, line: bytes) -> None:
        self.line = line
        self._wake()

    def fail(self, why: BxCrashed) -> None:
        self._why = why
        self._wake()

    def _wake(self) -> None:
        try:
            self._lock.release()
        except RuntimeError:  # it is awake
            pass

    @property
    def woken(self) -> bool:
        return not self._lock.locked()

    def wait(self) -> bytes:
        self._lock.acquire()
        if self.line is None:
            raise BxCrashed(*self._why.args) if self._why else BxCrashed("bx ended")
        return self.line


class LoopWaiter:
    """A coroutine that waits."""

    __slots__ = ("_loop", "future", "size")
    sleeps = False

    def __init__(self) -> None:
        self.size = 0
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[bytes] = self._loop.create_future()

    @property
    def given_up(self) -> bool:
        return self.future.cancelled()

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


def _processors() -> int:
    """How many processors this process may use."""
    if sys.platform != "win32" and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Nobody:
    """Waits for nothing."""

    size = 0
    sleeps = True
    given_up = False

    def answer(self, line: bytes) -> None:
        pass

    def fail(self, why: BxCrashed) -> None:
        pass


class Pipe:
    """A running bx. Lines are answered in their order, one answer each.

    The answers are read by one at a time: a thread that waits for one reads it itself
    if nobody reads, which takes less than to be woken by another. A thread of the pipe
    reads for coroutines, and what is left when a reader has its own.
    """

    #: So many bytes may be on their way before a coroutine hands its line to a thread:
    #: what an operating system's pipe holds, so that writing does not block.
    SMALL = (4 if sys.platform == "win32" else 16) << 10

    #: So long, in seconds, a thread looks again and again for the answer to its line: to
    #: read a reply of a kilobyte takes less time than to put a thread to sleep and wake it.
    WATCH = 1e-4

    def __init__(self, binary: str | None = None):
        self.pid = os.getpid()
        self._errors = _errors_file()
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
        self._lost = False  # an answer: those after it are nobody's
        self._reader: dict[None, object] = {}  # setdefault takes the part of who reads
        self._chunks: deque[bytes] = deque()  # that are being handed out
        self._begun: list[bytes] = []  # of an answer
        self._look: queue.SimpleQueue[None] = queue.SimpleQueue()  # wakes who helps
        self._closing = False
        self._watched: Any = None
        if sys.platform != "win32" and hasattr(select, "poll") and _processors() > 1:
            self._watched = select.poll()
            self._watched.register(self._out, select.POLLIN)
        threading.Thread(target=self._help, name="utp_bx", daemon=True).start()

    @property
    def alive(self) -> bool:
        if self._dead is None and not self._closing and self._hung_up():
            self._to_the_end()
        return self._dead is None and not self._closing

    def _hung_up(self) -> bool:
        if sys.platform == "win32" or not hasattr(select, "poll"):  # eventlet takes it away
            return self.process.poll() is not None
        poll = select.poll()  # Popen.poll keeps its lock if it is interrupted
        try:
            poll.register(self._out, 0)
            return bool(poll.poll(0))
        except ValueError:  # closed
            return True

    def ask(self, line: bytes) -> bytes:
        """Writes a line and returns its answer, which it waits for."""
        waiter = ThreadWaiter()
        try:
            self.send(line, waiter)
            if self._reader.setdefault(None, waiter) is waiter:
                self._watch()
                while not waiter.woken:
                    self._read()
                del self._reader[None]
                if self._waiting or self._closing:
                    self._look.put(None)
            return waiter.wait()
        except BaseException:  # who waits no more does not read either
            if self._reader.get(None) is waiter:
                del self._reader[None]
            self._look.put(None)
            raise

    def _watch(self) -> None:
        """Waits for an answer awake, if not for long and if it is the only one."""
        if self._watched is None or len(self._waiting) > 1:
            return
        look, now = self._watched.poll, time.perf_counter
        others = getattr(os, "sched_yield", lambda: None)  # that wait for a processor go before
        end = now() + self.WATCH
        while not look(0) and now() < end:
            others()

    @property
    def on_the_way(self) -> int:
        """How many bytes of lines are not answered yet."""
        return self._sent - self._answered

    def send(self, line: bytes, waiter: Waiter) -> None:
        """Writes a line. It blocks while bx is busy and the pipe is full."""
        with self._write:
            self._send(line, waiter)
        if not waiter.sleeps:
            self._look.put(None)

    def try_send(self, line: bytes, waiter: Waiter) -> bool:
        """Writes a line if that does not block, and returns whether it did."""
        if self.on_the_way + len(line) > self.SMALL or not self._write.acquire(blocking=False):
            return False
        try:
            self._send(line, waiter)
        finally:
            self._write.release()
        self._look.put(None)
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
        while self._dropped and self._dead is None and not self._in.closed:
            self._put(self._dropped.popleft(), _Nobody())
            self._look.put(None)

    def _send(self, line: bytes, waiter: Waiter) -> None:
        self._flush()
        if waiter.given_up:  # after that, so that no stream is closed before it is opened
            return
        if self._dead is not None:
            raise BxCrashed(*self._dead.args)
        if self._in.closed:
            raise BxCrashed("bx was closed; what was open in it is lost")
        self._put(line, waiter)

    def _put(self, line: bytes, waiter: Waiter) -> None:
        waiter.size = len(line)
        try:
            self._sent += len(line)
            self._waiting.append(waiter)
            written = self._in.write(line)
            while written < len(line):
                line = line[written:]
                written = self._in.write(line)
        except BaseException as e:  # half a line may be written: nothing can follow it
            self.kill()
            if isinstance(e, OSError):
                return  # the reading thread sees the end, and tells all who wait
            raise

    def _to_the_end(self) -> None:
        """Lets somebody read until bx has ended."""
        self._closing = True
        self._look.put(None)

    def _help(self) -> None:
        """Reads what no thread reads that waits, and while coroutines use the pipe."""
        me = object()
        while self._dead is None:
            self._look.get()
            while self._dead is None and self._reader.setdefault(None, me) is me:
                stays = self._closing
                while self._dead is None and (self._waiting or stays):
                    stays = self._read() or self._closing
                del self._reader[None]
                if not self._waiting:
                    break
        self._bury()  # whoever saw the end may have been interrupted

    def _read(self) -> bool:
        """Hands out what bx answers, and reports whether a coroutine had the last of it.
        Called by who has taken the part of the reader."""
        chunks, loops = self._chunks, False
        try:
            # One call, so that no signal's handler runs between reading and keeping.
            chunks.extend(map(os.read, (self._out.fileno(),), (1 << 16,)))
            if not chunks or not chunks[-1]:
                self._end()
                return False
            if self._lost:
                chunks.clear()
                return True
            *lines, rest = chunks[0].split(b"\n")
            begun = self._begun
            for line in lines:
                if begun:
                    line = b"".join([*begun, line])
                    begun.clear()
                if not self._waiting:
                    continue  # at its end bx names the streams that were left open
                waiter = self._waiting[0]
                self._answered += waiter.size
                loops = not waiter.sleeps
                waiter.answer(line)
                self._waiting.popleft()
            if rest:
                begun.append(rest)
            chunks.clear()
        except BlockingIOError:  # gevent reads so, and its select lets others go on
            select.select([self._out], [], [])
            return True
        except (OSError, ValueError):
            self._end()  # closed
        except BaseException:
            if chunks:  # an answer may be lost: none can be told from another
                self._lost = True
                self.kill()
                chunks.clear()
            raise
        return loops

    def _end(self) -> None:
        code = self.process.wait()
        with self._write:  # nobody joins the queue any more
            if self._dead is None:
                self._errors.seek(0)
                words = self._errors.read(2000).decode("utf-8", "replace").strip()
                self._dead = BxCrashed(f"bx ended ({code}); what was open in it is lost" + (f": {words}" if words else ""))
        self._bury()

    def _bury(self) -> None:
        """Closes the files of a dead bx and fails all waiters. May be called again."""
        assert self._dead is not None
        for end in (self._in, self._out, self._errors):
            end.close()
        for waiter in list(self._waiting):
            waiter.fail(self._dead)
        self._waiting.clear()

    def kill(self) -> None:
        self.process.kill()

    def close(self, timeout: float = 2) -> None:
        """Ends bx, which answers what it has read if it is quick."""
        self._closing = True
        if self._hang_up(timeout):
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()

    def abandon(self) -> None:
        """Ends bx for nobody, without waiting: garbage is collected in any thread."""
        if self.pid == os.getpid():
            self._closing = True
            self._hang_up(0)

    def _hang_up(self, timeout: float) -> bool:
        """Closes the input of bx. Who cannot, because bx does not read what somebody
        writes, kills it."""
        if not self._write.acquire(timeout=timeout):
            self.kill()
            return False
        try:
            self._in.close()
        finally:
            self._write.release()
        self._to_the_end()
        return True

    def forget(self) -> None:
        """Lets go of a process that belongs to the parent of a fork."""
        for end in (self._in, self._out, self._errors):
            try:
                end.close()
            except (OSError, ValueError):
                pass
        self._write, self._look = threading.Lock(), queue.SimpleQueue()
        self.process.returncode = 0  # it is not this process's child to wait for
        self._dead = BxCrashed("this was opened before a fork, in the parent: open it anew here")


def _float(digits: str) -> float | str:
    f = float(digits)
    return f if math.isfinite(f) else digits


def _int(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # more of them than sys.get_int_max_str_digits()
        return digits


_decode = json.JSONDecoder(parse_float=_float).decode
_decode_long = json.JSONDecoder(parse_float=_float, parse_int=_int).decode


def decoded(line: bytes) -> dict[str, Any]:
    """An answer. One that holds an error raises it. A number that Python cannot hold
    stays the text of its digits."""
    text = line.decode()
    try:
        answer: dict[str, Any] = _decode(text)
    except ValueError:
        answer = _decode_long(text)
    except RecursionError as e:
        raise BxError("what bx answered is nested too deeply for Python") from e
    if "error" in answer:
        words: str = answer["error"]
        head, _, tail = words.partition(": ")
        raise BxError(tail if head.startswith("line ") and tail else words)
    return answer
