"""The process behind the package: many streams, threads, loops, forks, crashes."""

import asyncio
import copy
import faulthandler
import gc
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import types
import unittest
import unittest.mock

import utp_bx
from utp_bx import Bx, BxCrashed, BxError, BxNotFound, Stream, pipe

from . import goldens

CALL = '<tool_call>{"name": "f", "arguments": {"n": %d}}</tool_call>'


def setUpModule():
    faulthandler.dump_traceback_later(300, exit=True)  # who waits for ever says where


def tearDownModule():
    faulthandler.cancel_dump_traceback_later()


def stop(pid):
    """Stops a process; it does nothing more when this returns."""
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)


class Many(unittest.TestCase):
    """A thousand streams at once, none mixed up."""

    @classmethod
    def setUpClass(cls):
        rnd = random.Random(1000)
        all = goldens.cases()
        cls.cases = [rnd.choice(all) for _ in range(1000)]
        cls.want = [goldens.wanted(a) for a in goldens.said(cls.cases)]
        cls.pieces = [c.pieces(rnd) for c in cls.cases]

    def check(self, replies):
        self.assertEqual(len(replies), 1000)
        for case, reply, want in zip(self.cases, replies, self.want):
            self.assertEqual(goldens.plain(reply), want, case.file)

    def test_one_thread(self):
        rnd = random.Random(2)
        bx = Bx()
        streams = [Stream(c.tools, **c.options, bx=bx) for c in self.cases]
        lines = [(i, p) for i, pieces in enumerate(self.pieces) for p in range(len(pieces))]
        rnd.shuffle(lines)
        next_piece = [0] * 1000
        for i, _ in lines:  # in any order between streams, in order within each
            streams[i].feed(self.pieces[i][next_piece[i]])
            next_piece[i] += 1
        self.check([s.close() for s in streams])
        self.assertEqual(len({s._pipe for s in streams}), 1)
        bx.close()

    def test_threads(self):
        bx = Bx()
        replies = [None] * 1000
        ready = threading.Barrier(20)

        def work(k):
            streams = {i: Stream(self.cases[i].tools, **self.cases[i].options, bx=bx) for i in range(k, 1000, 20)}
            ready.wait()  # all are open at once, in twenty threads
            for at in range(12):
                for i, s in streams.items():
                    if at < len(self.pieces[i]):
                        s.feed(self.pieces[i][at])
            for i, s in streams.items():
                replies[i] = s.close()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.check(replies)
        bx.close()

    def test_loop(self):
        bx = Bx()

        async def one(i):
            async with Stream(self.cases[i].tools, **self.cases[i].options, bx=bx) as stream:
                for piece in self.pieces[i]:
                    await stream.afeed(piece)
                    await asyncio.sleep(0)
            return stream.reply

        async def all():
            return await asyncio.gather(*(one(i) for i in range(1000)))

        self.check(asyncio.run(all()))
        bx.close()


class Crashes(unittest.TestCase):
    def test_kill(self):
        """kill -9 loses what was open and says so; the next call starts anew."""
        bx = Bx()
        streams = [Stream(bx=bx) for _ in range(50)]
        for s in streams:
            s.feed("Hello")
        done = Stream(bx=bx)
        done.feed("whole")
        self.assertEqual(done.close().content, "whole")
        os.kill(bx.process_id, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while bx.process_id is not None and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertIsNone(bx.process_id)
        for s in streams:
            with self.assertRaisesRegex(BxCrashed, "bx ended .*what was open in it is lost"):
                s.feed("more")
        self.assertEqual(done.reply.content, "whole")
        self.assertEqual(bx.parse(CALL % 7).tool_calls[0].arguments, {"n": 7})
        s = Stream(bx=bx)
        self.assertEqual(s.close().content, "")
        bx.close()

    def test_killed_while_nothing_is_open(self):
        """Nothing is lost, and the next call starts anew."""
        bx = Bx()
        bx.parse("x")
        os.kill(bx.process_id, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while bx.process_id is not None and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertEqual(bx.parse("y").content, "y")
        bx.close()

    def test_kill_while_many_wait(self):
        """Nobody waits forever, whenever the process dies."""
        bx = Bx()
        rnd = random.Random(9)
        for _ in range(5):
            seen = []

            def work():
                for n in range(100):
                    try:
                        seen.append(bx.parse(CALL % n).tool_calls[0].arguments == {"n": n})
                    except BxCrashed:
                        seen.append(None)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for t in threads:
                t.start()
            time.sleep(rnd.random() / 50)
            if pid := bx.process_id:
                os.kill(pid, signal.SIGKILL)
            for t in threads:
                t.join(30)
            self.assertEqual(len(seen), 400)
            self.assertNotIn(False, seen)
        bx.close()

    def test_kill_under_a_loop(self):
        bx = Bx()

        async def run():
            big = "word " * 400_000
            waiting = [asyncio.create_task(bx.aparse(big)) for _ in range(20)]
            await asyncio.sleep(0.05)
            os.kill(bx.process_id, signal.SIGKILL)
            return await asyncio.gather(*waiting, return_exceptions=True)

        crashed = [r for r in asyncio.run(run()) if isinstance(r, BxCrashed)]
        self.assertGreater(len(crashed), 0)
        self.assertEqual(bx.parse("x").content, "x")
        bx.close()

    def test_words_of_a_crash(self):
        bx = Bx(binary=sys.executable)  # which knows nothing of "parse"
        with self.assertRaisesRegex(BxCrashed, "parse"):
            bx.parse("x")

    def test_not_found(self):
        with self.assertRaises(BxNotFound):
            Bx(binary="/nowhere/bx").parse("x")

    def test_half_written(self):
        """An interrupt in the middle of a line: what was open is lost, never mixed up."""
        bx = Bx()
        bx.parse("x")
        old = bx.process_id
        stop(old)  # it reads nothing, so that writing blocks
        try:
            signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with self.assertRaises(KeyboardInterrupt):
                bx.parse("x" * 1_000_000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            os.kill(old, signal.SIGCONT)
        for n in range(20):
            try:
                self.assertEqual(bx.parse(CALL % n).tool_calls[0].arguments, {"n": n})
            except BxCrashed:
                self.assertEqual(n, 0)
        self.assertNotEqual(bx.process_id, old)
        bx.close()

    def test_interrupted_wait(self):
        """An answer that nobody waits for any more does not go to somebody else."""
        bx = Bx()
        bx.parse("x")
        stop(bx.process_id)
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):
            bx.parse("first")
        os.kill(bx.process_id, signal.SIGCONT)
        self.assertEqual(bx.parse("second").content, "second")
        bx.close()

    def test_interrupts(self):
        """Wherever an interrupt strikes a thread that reads, no answer is mixed up and
        nobody waits forever."""
        bx = Bx()
        wrong, stop_now = [], threading.Event()

        def work(k):
            n = 0
            while not stop_now.is_set():
                n += 1
                try:
                    if bx.parse(CALL % (n * 10 + k)).tool_calls[0].arguments != {"n": n * 10 + k}:
                        wrong.append(n)
                except BxCrashed:
                    pass

        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for t in threads:
            t.start()
        rnd, struck, answered = random.Random(5), 0, 0
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        for n in range(400):
            try:
                # Again after 5 s: Python drops an interrupt that strikes in a __del__.
                signal.setitimer(signal.ITIMER_REAL, rnd.uniform(1e-6, 1e-3), 5)
                try:
                    while True:
                        self.assertEqual(bx.parse(CALL % n).tool_calls[0].arguments, {"n": n})
                        answered += 1
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                struck += 1
            except BxCrashed:
                pass
        stop_now.set()
        for t in threads:
            t.join(30)
        self.assertEqual((wrong, [t for t in threads if t.is_alive()]), ([], []))
        self.assertGreater(struck, 0)
        self.assertEqual(bx.parse(CALL % 1).tool_calls[0].arguments, {"n": 1})
        bx.close()

    def test_closed_while_others_call(self):
        """Who calls then is answered or told; nothing else comes out of it."""
        bx = Bx()
        stop_now, seen = threading.Event(), []

        def work():
            while not stop_now.is_set():
                try:
                    bx.parse("x")
                except BxCrashed:
                    pass
                except BaseException as e:
                    seen.append(e)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(20):
            time.sleep(0.01)
            bx.close()
        stop_now.set()
        for t in threads:
            t.join(30)
        self.assertEqual(seen, [])
        bx.close()
        stream = Stream(bx=bx)
        stream.feed("x")
        with self.assertRaises(BxCrashed):
            bx.close()
            stream.feed("y")

    def test_garbage(self):
        """A Bx that nobody holds any more leaves no process."""
        bx = Bx()
        bx.parse("x")
        process = bx._pipe.process
        del bx
        gc.collect()
        self.assertEqual(process.wait(10), 0)

    def test_with(self):
        with Bx() as bx:
            self.assertEqual(bx.parse("x").content, "x")
            process = bx._pipe.process
        self.assertEqual(process.wait(10), 0)

    def test_exit_while_bx_does_not_read(self):
        """A program ends, though one of its threads writes to a bx that stands still."""
        code = (
            "import os, signal, threading, time, utp_bx\n"
            "utp_bx.parse('x')\n"
            "os.kill(utp_bx.engine._shared.process_id, signal.SIGSTOP)\n"
            "threading.Thread(target=utp_bx.parse, args=('x' * 1_000_000,), daemon=True).start()\n"
            "time.sleep(0.2)"
        )
        run = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_nowhere_to_write(self):
        """As in a container whose file system is read-only."""
        with unittest.mock.patch.object(pipe.tempfile, "TemporaryFile", side_effect=FileNotFoundError):
            with Bx() as bx:
                self.assertEqual(bx.parse("x").content, "x")

    def test_without_folder_and_descriptors(self):
        """The folder one stands in is gone, and descriptors 0 to 2 are closed."""
        code = (
            "import os, sys, tempfile\n"
            "sys.path.insert(0, os.getcwd())\n"
            "import utp_bx\n"
            "os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd())\n"
            "for fd in 0, 1, 2: os.close(fd)\n"
            "os._exit(utp_bx.parse('x').content != 'x')"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", code], timeout=60).returncode, 0)

    def test_interrupted_stream(self):
        """A stream whose piece may be lost says so, and does not go on without it."""
        bx = Bx()
        stream = Stream(bx=bx)
        stream.feed("a")
        stop(bx.process_id)
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):
            stream.feed("b")
        os.kill(bx.process_id, signal.SIGCONT)
        for what in lambda: stream.feed("c"), stream.close, lambda: stream.reply:
            with self.assertRaisesRegex(BxError, "was interrupted, so that a piece may be missing"):
                what()
        self.assertEqual(bx.parse("x").content, "x")
        bx.close()

    def test_interrupted_between_answers(self):
        """An interrupt while answers are handed out: bx is started anew, and who waits is told."""
        bx = Bx()
        stream = Stream(bx=bx)
        stream.feed("open")
        waiter = pipe.ThreadWaiter.answer

        def struck(self, line):
            pipe.ThreadWaiter.answer = waiter
            raise KeyboardInterrupt

        pipe.ThreadWaiter.answer = struck
        with self.assertRaises(KeyboardInterrupt):
            bx.parse("x")
        with self.assertRaises(BxCrashed):
            stream.feed("more")
        self.assertEqual(bx.parse("y").content, "y")
        bx.close()


    def test_answers_after_a_lost_one(self):
        """They are in the pipe already, and nobody's."""
        bx = Bx()
        bx.parse("x")
        ours, read = bx._pipe, os.read
        waiters = [pipe.ThreadWaiter() for _ in range(2)]
        for n, waiter in enumerate(waiters):
            ours.send(b'{"id":%d,"op":"parse","input":"text %d"}\n' % (n, n), waiter)

        def a_line(fd, _):
            line = b""
            while not line.endswith(b"\n"):
                line += read(fd, 1)
            return line

        def struck(self, line):
            raise KeyboardInterrupt

        with unittest.mock.patch.object(pipe.os, "read", a_line), unittest.mock.patch.object(pipe.ThreadWaiter, "answer", struck):
            ours._reader[None] = self
            with self.assertRaises(KeyboardInterrupt):
                ours._read()
        while waiters[0].line is None and not waiters[0].woken:
            ours._read()
        for waiter in waiters:
            with self.assertRaises(BxCrashed):
                waiter.wait()
        del ours._reader[None]
        self.assertEqual(bx.parse("y").content, "y")
        bx.close()


@unittest.skipUnless(hasattr(os, "fork"), "no fork on this system")
class Forks(unittest.TestCase):
    def child(self, what):
        """Runs in a fork, as gunicorn's workers do."""
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(w, repr(what()).encode())
            except BaseException as e:
                os.write(w, f"{type(e).__name__}: {e}".encode())
            os._exit(0)
        os.close(w)
        with os.fdopen(r) as out:
            text = out.read()
        os.waitpid(pid, 0)
        return text

    def test_fork(self):
        self.assertEqual(utp_bx.parse("parent").content, "parent")
        open_here = Stream()
        open_here.feed("in the ")
        parent = utp_bx.engine._shared.process_id

        def in_child():
            content = utp_bx.parse(CALL % 3).tool_calls[0].arguments
            return content, utp_bx.engine._shared.process_id != parent

        for _ in range(4):
            self.assertEqual(self.child(in_child), "({'n': 3}, True)")
        self.assertIn("before a fork", self.child(lambda: open_here.feed("child")))
        open_here.feed("parent")
        self.assertEqual(open_here.close().content, "in the parent")
        self.assertEqual(utp_bx.engine._shared.process_id, parent)

    def test_fork_while_threads_write(self):
        bx = Bx()
        stop = threading.Event()
        wrong = []

        def work():
            while not stop.is_set():
                if bx.parse(CALL % 1).tool_calls[0].arguments != {"n": 1}:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        try:
            for _ in range(8):
                self.assertEqual(self.child(lambda: bx.parse(CALL % 2).tool_calls[0].arguments), "{'n': 2}")
        finally:
            stop.set()
            for t in threads:
                t.join()
        self.assertEqual(wrong, [])
        bx.close()

    def test_the_process_ends_with_its_parent(self):
        """A fork that lives on holds no end of the parent's pipe."""
        bx = Bx()
        bx.parse("x")
        ours = bx._pipe
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(r, 1)  # lives on
            os._exit(0)
        bx.close()
        try:
            self.assertEqual(ours.process.wait(10), 0)
        finally:
            os.write(w, b"x")
            os.waitpid(pid, 0)


class Loads(unittest.TestCase):
    def test_threads_beside_a_loop(self):
        """Whoever reads the answers, each goes to who asked."""
        bx = Bx()
        got = []

        def work(k):
            got.extend(bx.parse(CALL % (k * 1000 + n)).tool_calls[0].arguments["n"] - k * 1000 == n for n in range(300))

        async def run():
            return [(await bx.aparse(CALL % n)).tool_calls[0].arguments["n"] == n for n in range(300)]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        got += asyncio.run(run())
        for t in threads:
            t.join()
        self.assertEqual((len(got), all(got)), (1200, True))
        bx.close()

    def test_who_has_the_answer_lets_others_read(self):
        """An answer comes to a thread that waits behind another, which calls no more."""
        bx = Bx()
        bx.parse("x")
        stop(bx.process_id)
        many = "".join(CALL % n for n in range(600))  # fits into a pipe, its answer does not
        got = []
        threads = [threading.Thread(target=lambda t=t: got.append(len(bx.parse(t).tool_calls)), daemon=True) for t in (CALL % 1, many)]
        for t in threads:
            t.start()
            time.sleep(0.1)
        os.kill(bx.process_id, signal.SIGCONT)
        for t in threads:
            t.join(20)
        self.assertEqual(sorted(got), [1, 600])
        bx.close()

    def test_nothing_stays_of_a_closed_one(self):
        """Neither a thread nor a descriptor, however it ended."""
        one = Bx()
        one.parse("x")
        open_before, before = len(os.listdir("/dev/fd")), set(threading.enumerate())
        for end in (lambda b: b.close(), lambda b: os.kill(b.process_id, signal.SIGKILL)):
            bx = Bx()
            bx.parse("x")
            end(bx)
            deadline = time.monotonic() + 10
            while bx.process_id is not None and time.monotonic() < deadline:
                time.sleep(0.001)
        for t in set(threading.enumerate()) - before:
            t.join(10)
        self.assertEqual(set(threading.enumerate()) - before, set())
        self.assertEqual(len(os.listdir("/dev/fd")), open_before)
        one.close()

    def test_without_poll(self):
        """As on Windows, and with eventlet."""
        with unittest.mock.patch.object(pipe, "select", object()):
            bx = Bx()
            self.assertEqual(bx.parse(CALL % 1).tool_calls[0].arguments, {"n": 1})
            os.kill(bx.process_id, signal.SIGKILL)
            while bx.process_id is not None:
                time.sleep(0.01)
            self.assertEqual(bx.parse(CALL % 2).tool_calls[0].arguments, {"n": 2})
            bx.close()

    def test_reading_does_not_block(self):
        """As under gevent, which reads so."""
        with Bx() as bx:
            bx.parse("x")
            os.set_blocking(bx._pipe._out.fileno(), False)
            for n in range(50):
                self.assertEqual(bx.parse(CALL % n).tool_calls[0].arguments, {"n": n})

    def test_huge(self):
        big = "Words without end. " * 300_000
        reply = utp_bx.parse(big + CALL % 1)
        self.assertEqual((len(reply.content), len(reply.tool_calls)), (len(big), 1))
        stream = Stream()
        stream.feed(big)
        self.assertEqual(len(stream.close().content), len(big))

    def test_a_loop_is_not_blocked(self):
        """While megabytes are on their way, other coroutines go on."""
        bx = Bx()

        async def run():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            await bx.aparse("x")
            stop(bx.process_id)
            blocked = threading.Timer(20, os.kill, (bx.process_id, signal.SIGCONT))
            blocked.start()
            ticks = 0
            work = [asyncio.create_task(bx.aparse("word " * 200_000)) for _ in range(3)]
            while ticks < 1000:
                await asyncio.sleep(0)
            self.assertTrue(blocked.is_alive(), "the loop waited until bx went on")
            blocked.cancel()
            os.kill(bx.process_id, signal.SIGCONT)
            replies = await asyncio.gather(*work)
            ticking.cancel()
            return replies

        self.assertEqual([len(r.content) for r in asyncio.run(run())], [1_000_000] * 3)
        bx.close()

    def test_dropped_streams(self):
        """A stream that is thrown away is closed in bx too: its id is free there."""
        bx = Bx()
        running = bx._running()
        ids = []
        for _ in range(300):
            s = Stream(bx=bx)
            s.feed("x")
            ids.append(s._id)
            del s
        gc.collect()
        for id in ids:  # opening an id that is open is an error
            bx._ask(b'{"id":%d,"op":"open"}\n' % id, running)
        bx.close()

    def test_cancelled(self):
        bx = Bx()

        async def run():
            task = asyncio.create_task(bx.aparse("word " * 100_000))
            await asyncio.sleep(0.01)
            task.cancel()
            return (await bx.aparse("after")).content

        self.assertEqual(asyncio.run(run()), "after")
        bx.close()

    def test_cancelled_piece(self):
        """Whether a piece is on its way or waits for its turn: no stream goes on without it."""
        bx = Bx()

        async def run():
            await bx.aparse("x")
            for size in (10, 40_000):  # the second goes by a thread
                for waits in range(4):
                    stream = Stream(bx=bx)
                    await stream.afeed("0")
                    task = asyncio.create_task(stream.afeed("a" * size))
                    for _ in range(waits):
                        await asyncio.sleep(0)
                    task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError:
                        if waits:  # else it had not begun
                            with self.assertRaisesRegex(BxError, "was interrupted"):
                                await stream.afeed("1")
                            continue
                    await stream.afeed("1")
                    self.assertIn((await stream.aclose()).content, ("0" + "a" * size + "1", "01"))

        asyncio.run(run())
        bx.close()

    def test_cancelled_stream_is_closed_in_bx(self):
        """Also if its opening line is cancelled while it waits to be written."""
        bx = Bx()
        tools = utp_bx.Tools([{"name": "f", "description": "x" * 100_000}])

        async def run():
            await bx.aparse("x")
            streams = [Stream(tools, bx=bx) for _ in range(20)]
            for n, stream in enumerate(streams):
                task = asyncio.create_task(stream.afeed("x"))
                await asyncio.sleep(n / 5000)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            return [s._id for s in streams]

        ids = asyncio.run(run())
        gc.collect()
        for id in ids:  # opening an id that is open is an error
            bx._ask(b'{"id":%d,"op":"open"}\n' % id)
        bx.close()

    def test_no_stream_is_closed_before_it_is_opened(self):
        """Also if it is cancelled just when its opening line is written."""
        bx = Bx()
        pipe = bx._running()

        class Struck(utp_bx.pipe._Nobody):
            @property
            def given_up(self):
                pipe._dropped.append(b'{"id":1000,"op":"close"}\n')
                return False

        pipe.send(b'{"id":1000,"op":"open"}\n', Struck())
        bx._ask(b'{"id":1000,"op":"open"}\n')
        bx.close()


class Options(unittest.TestCase):
    TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]

    def test_parse(self):
        reply = utp_bx.parse('{"name": "f", "arguments": {"n": "3"}}', self.TOOLS)
        call = reply.tool_calls[0]
        self.assertEqual((call.name, call.arguments, call.status, call.fixes[0].path), ("f", {"n": 3}, "repaired", "/n"))
        self.assertEqual(call.arguments_json, '{"n": 3}')
        self.assertEqual(utp_bx.parse(CALL % 1, utp_bx.Tools([{"name": "g"}]), policy="unknown=text").tool_calls, [])
        self.assertEqual(utp_bx.parse("Hm.</think>Hi", prefill="<think>").reasoning, "Hm.")
        self.assertEqual(utp_bx.parse((CALL % 1)[:-15], cut=True).problems[0].kind, "truncated")
        native = utp_bx.parse({"role": "assistant", "content": "Hi", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]})
        self.assertEqual((native.content, native.tool_calls[0].id, native.tool_calls[0].grammar), ("Hi", "c", "native"))
        broken = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "no JSON"}}]}
        call = utp_bx.parse(broken).tool_calls[0]
        self.assertEqual((call.arguments, call.raw_arguments, call.arguments_json, call.status), (None, "no JSON", "no JSON", "invalid"))
        thought = {"role": "assistant", "content": "", "reasoning_content": "Hm. " + CALL % 1}
        self.assertEqual([(c.field, c.offset) for c in utp_bx.parse(thought).tool_calls], [("reasoning", 4)])
        said = '{"role": "assistant", "content": "Hi"}'
        self.assertEqual([utp_bx.parse(said).content, utp_bx.parse(said, kind="auto").content], [said, "Hi"])
        self.assertEqual(utp_bx.parse("half a letter \ud83d").content, "half a letter \ufffd")

    def test_events(self):
        stream = Stream(self.TOOLS)
        events = list(stream.events(["I look.\n<tool_c", 'all>{"name": "f", "arg', 'uments": {"n": 1}}</tool_call>']))
        self.assertEqual([e.kind for e in events if e.kind != "call-delta"], ["text", "call-start", "call"])
        self.assertEqual(stream.reply.tool_calls[0], events[-1].call)

        async def run():
            async def pieces():
                for piece in "Hi <b>there":
                    yield piece

            stream = Stream()
            return "".join([e.text async for e in stream.aevents(pieces())]), stream.reply.content

        self.assertEqual(asyncio.run(run()), ("Hi <b>there", "Hi <b>there"))

    def test_render(self):
        text = utp_bx.render(self.TOOLS, "mistral")
        self.assertIn("[TOOL_CALLS]", text)
        self.assertIn('"f"', text)
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}}
        messages = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a", "content": "7"}]
        r = utp_bx.render_messages(messages, self.TOOLS, model="qwen2.5-7b")
        self.assertEqual(asyncio.run(utp_bx.arender_messages(messages, self.TOOLS, model="qwen2.5-7b")), r)
        self.assertEqual((r.dialect, [m["role"] for m in r.messages]), ("hermes", ["system", "user", "assistant", "user"]))
        self.assertEqual(utp_bx.parse(r.messages[2]["content"], grammar=r.dialect).tool_calls[0].arguments, {"n": 1})

    def test_translate(self):
        t = utp_bx.translate("openai", "anthropic", {"model": "m", "seed": 1, "messages": [{"role": "user", "content": "Hi"}]})
        self.assertEqual((t.path, t.output["messages"], t.losses[0]["path"]), ("/v1/messages", [{"role": "user", "content": "Hi"}], "params.seed"))
        t = utp_bx.translate("openai", "ollama", 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n', "stream")
        self.assertTrue("Hi" in t.output and t.broken)

    def test_mistakes(self):
        self.assertEqual(utp_bx.parse(CALL % 1, [types.MappingProxyType({"name": "f"})]).tool_calls[0].status, "ok")
        for want, what in {
            "no grammar is called": lambda: utp_bx.parse("x", grammar="q"),
            "tools\\[0\\]: the name is missing": lambda: utp_bx.parse("x", [{}]),
            "policy: ": lambda: utp_bx.parse("x", policy="x"),
            "cannot be written as JSON": lambda: utp_bx.parse("x", [{"name": object()}]),
            "tools: .*want a dict.*, not <function": lambda: utp_bx.parse("x", [utp_bx.parse]),
            "tools: .*Out of range float values": lambda: utp_bx.Tools([{"name": "f", "x": float("nan")}]),
            "tools: want a list of tools, not a dict": lambda: utp_bx.parse("x", {"name": "f"}),
            "tools: want a list of tools, not a str": lambda: Stream('[{"name": "f"}]'),
            "tools: want a list of tools, not a int": lambda: utp_bx.Tools(3),
            "from: want one of": lambda: utp_bx.translate("x", "openai", {}),
            "no grammar is called .q": lambda: Stream(grammar="q").feed("x"),
            "is not closed": lambda: Stream().reply,
            "a piece is a str, not NoneType": lambda: Stream().feed(None),
        }.items():
            with self.assertRaisesRegex(BxError, want):
                what()
        stream = Stream()
        stream.close()
        with self.assertRaisesRegex(BxError, "the stream is closed"):
            stream.feed("x")
        refused = Stream(policy="x")
        for _ in range(2):
            with self.assertRaisesRegex(BxError, "policy: x: want"):
                refused.feed("x")
        with self.assertRaisesRegex(BxError, "could not be opened: policy: x: want"):
            refused.close()
        missing = Stream(bx=Bx("/nowhere"))
        for _ in range(2):
            with self.assertRaisesRegex(BxError, "/nowhere"):
                missing.feed("x")

    def test_numbers_that_python_cannot_hold(self):
        """A model that writes one makes no caller fail, and no JSON that is none."""
        for digits in "1e999", "-1e999", "7" * 5000:
            (call,) = utp_bx.parse(CALL.replace("%d", digits)).tool_calls
            self.assertEqual((call.arguments, json.loads(call.arguments_json)), ({"n": digits}, {"n": digits}))
        self.assertEqual(utp_bx.parse(CALL.replace("%d", "1.5")).tool_calls[0].arguments, {"n": 1.5})

    def test_half_a_letter(self):
        """What a model writes as half of a surrogate pair can be sent on."""
        call = utp_bx.parse(CALL.replace("%d", '"é\\ud83d"')).tool_calls[0]
        self.assertEqual(call.arguments, {"n": "é\ud83d"})
        self.assertEqual(json.loads(call.arguments_json.encode()), call.arguments)

    def test_replies_are_values(self):
        reply = utp_bx.parse(CALL % 1, [{"name": "f"}])
        for same in pickle.loads(pickle.dumps(reply)), copy.deepcopy(reply), utp_bx.parse(CALL % 1, [{"name": "f"}]):
            self.assertEqual(same, reply)

    def test_which_program(self):
        """The one that is named, whatever else is here."""
        with unittest.mock.patch.dict(os.environ, UTP_BX_BINARY="/mine/bx"):
            self.assertEqual(pipe.find_binary(), "/mine/bx")

    def test_no_such_option(self):
        bx = Bx()
        for what in utp_bx.parse, bx.parse, lambda *a, **k: asyncio.run(utp_bx.aparse(*a, **k)), lambda *a, **k: asyncio.run(bx.aparse(*a, **k)):
            self.assertEqual(what("Hm.</think>Hi", prefill="<think>").content, "Hi")
            with self.assertRaisesRegex(TypeError, "dialect"):
                what("x", dialect="hermes")


if __name__ == "__main__":
    unittest.main()
