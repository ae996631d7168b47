"""Every case of every grammar: the reply of bx parse, whole and cut anywhere."""

import json
import random
import subprocess
import tempfile
import unittest

import utp_bx

from . import goldens


class Goldens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = goldens.cases()
        cls.want = [goldens.wanted(a) for a in goldens.said(cls.cases)]

    def same(self, case, reply, want):
        self.assertEqual(goldens.plain(reply), want, f"{case.file}: {case.text!r}")

    def test_whole(self):
        for case, want in zip(self.cases, self.want):
            self.same(case, utp_bx.parse(case.text, case.tools, **case.options), want)

    def test_cut_anywhere(self):
        rnd = random.Random(16)
        for case, want in zip(self.cases, self.want):
            for pieces in (list(case.text[:60]) + [case.text[60:]], case.pieces(rnd)):
                with utp_bx.Stream(case.tools, **case.options) as stream:
                    events = [e for piece in pieces for e in stream.feed(piece)]
                reply = stream.reply
                self.same(case, reply, want)
                events += reply.events
                self.assertEqual("".join(e.raw for e in events), case.text, case.file)
                self.assertEqual([e.call for e in events if e.kind == "call"], reply.tool_calls, case.file)
                text = "".join(e.text for e in events if e.kind in ("text", "problem"))
                self.assertEqual(text.split(), reply.content.split(), case.file) if not reply.tool_calls else None

    def test_a_process_each(self):
        """Some of them as a user of the command line reads them."""
        for case, want in random.Random(4).sample(list(zip(self.cases, self.want)), 6):
            command = [goldens.BINARY, "parse", "--input", "text"]
            for flag, value in case.options.items():
                command += ["--" + flag, value]
            if case.tools is not None:
                with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
                    json.dump(case.tools, f)
                command += ["--tools", f.name]
            run = subprocess.run(command, input=case.text, capture_output=True, text=True)
            self.assertEqual(goldens.wanted(json.loads(run.stdout)), want, case.file)


if __name__ == "__main__":
    unittest.main()
