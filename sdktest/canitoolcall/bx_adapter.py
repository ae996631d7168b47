"""bx parse as an engine of CanIToolCall, a neutral suite of recorded replies.

The dialect is not told: bx sees the text, the tools that were offered and the
end of the prompt, nothing else. A stream is fed in pieces of as many bytes as
the strategy's largest group has; the suite's groups themselves cannot be had,
for they are of tokens, and bx reads text.

BX names the program, by default the one on the PATH.
"""

import json
import os
import subprocess

from canitoolcall.adapters.base import Adapter, Support
from canitoolcall.results import ParsedToolCall, ParseResult

BX = os.environ.get("BX", "bx")


class Reader:
    """A `bx parse --jsonl` that stays open."""

    def __init__(self, size):
        args = [BX, "parse", "--jsonl", "--input", "text"]
        if size:
            args += ["--chunk", str(size)]
        self.process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class BxAdapter(Adapter):
    name = "bx"
    pinned_version = "any"
    supports_text_deltas = True
    tokens_per_step = "many"

    def __init__(self):
        self.readers = {}

    def version(self):
        return subprocess.run([BX, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def supports(self, family, model):
        return Support(True)

    def parser_config(self, raw):
        return {"grammar": "auto", "prefill": prefill(raw)}

    def units(self, raw):
        return [ord(c) for c in raw.text]

    def parse(self, raw, tools):
        return self.ask(raw, tools, 0)

    def parse_stream(self, raw, chunks, tools):
        sizes = [len("".join(map(chr, c)).encode()) for c in chunks]
        return self.ask(raw, tools, max(sizes, default=1))

    def parse_stream_text(self, raw, deltas, tools):
        return self.ask(raw, tools, max((len(d.encode()) for d in deltas), default=1))

    def ask(self, raw, tools, size):
        if size not in self.readers:
            self.readers[size] = Reader(size)
        answer = self.readers[size].read(
            {"id": raw.fixture_id, "input": raw.text, "tools": list(tools), "prefill": prefill(raw)}
        )
        if "error" in answer:
            return ParseResult(exception=f"bx: {answer['error']}")
        calls = tuple(ParsedToolCall(c["name"], json.dumps(c["arguments"])) for c in answer["tool_calls"])
        return ParseResult(answer["content"] or None, answer["reasoning"] or None, calls)

    def close(self):
        for reader in self.readers.values():
            reader.close()


def prefill(raw):
    """The end of the prompt: what the model found opened."""
    return raw.generation_prompt or ""
