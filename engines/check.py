#!/usr/bin/env python3
"""Asks each tiny model for calls and edits with names that it never saw, and for answers from results.

    check.py DIR        DIR holds llama-server and the GGUF files

Prints how many replies are right to the letter, and fails if too few are, or if a model that
counts ends or stays at one byte (Ollama breaks off after 30).
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import templates
from dialogues import Dialogues, arguments, write

SEED = 2  # not the one of the training
COUNTS = {"calls": 60, "edits": 10, "answers": 20}
ENOUGH = {"calls": 55, "edits": 8, "answers": 17}


class Server:
    """llama-server with one of the models."""

    def __init__(self, folder, name):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        model = os.path.join(folder, "tiny-" + name + ".gguf")
        args = ["-m", model, "--host", "127.0.0.1", "--port", str(self.port), "--jinja", "-c", "4096", "-np", "1", "-t", "1", "-tb", "1"]
        self.process = subprocess.Popen([os.path.join(folder, "llama-server"), *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                return urllib.request.urlopen("http://127.0.0.1:%d/health" % self.port).close()
            except OSError:
                time.sleep(.2)
        self.process.kill()
        sys.exit("llama-server does not start with " + model)

    def post(self, path, body):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.port, path), json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)

    def says(self, messages, tools, **more):
        """The raw reply, with the calls as the model wrote them."""
        asked = {"messages": messages, "tools": tools, "chat_template_kwargs": {"enable_thinking": False}}
        prompt = self.post("/apply-template", asked)["prompt"]
        return self.post("/completion", {"prompt": prompt, "n_predict": 200, "temperature": 0, **more})["content"]


def offer(listed):
    """Tools as the APIs have them."""
    def schema(argument):
        return {"type": "object", "properties": {argument: {"type": "string"}} if argument else {}, "required": [argument] if argument else []}
    return [{"type": "function", "function": {"name": n, "description": "A tool.", "parameters": schema(a)}} for n, a in listed]


def manifest(listed):
    """Tools as bx tells of them in ReAct."""
    lines = ["- " + n + ": A tool." + ("\n  - " + a + " (string, required)" if a else "") for n, a in listed]
    return "You help.\n\n# Tools\n\n" + templates.OFFER + "\n" + "\n".join(lines) + "\n\nTo use one, write exactly so:\n\nAction: the tool"


def ask_for_call(server, dialect, d, kinds, listing):
    question, thought, kind, values = d.task()
    while kind not in kinds or len(values) > 1:
        question, thought, kind, values = d.task()
    listed, (name, argument) = d.tools(kind)
    if not listing and kind == "read":
        name, argument = "read_file", "path"
    messages, tools = [{"role": "user", "content": (d.noise() if listing else "") + question}], []
    spoken = "react" if dialect == "plain" and listing else dialect
    want = write(spoken, [(name, arguments(name, argument, values[0]))])
    if listing and dialect == "plain":
        messages.insert(0, {"role": "system", "content": manifest(listed)})
        want = "Thought: " + thought + "\n" + want
    elif listing:
        tools = offer(listed)
    return want, server.says(messages, tools)


def ask_for_answer(server, dialect, d):
    path, (text, begin, copied) = d.path(), d.result()
    answer = begin + copied
    messages = [{"role": "user", "content": d.about_file(path)}]
    if dialect == "plain":
        call = write("react", [("read_file", [("path", path)])])
        messages.insert(0, {"role": "system", "content": manifest([("read_file", "path")])})
        messages += [{"role": "assistant", "content": call}, {"role": "user", "content": "Observation: " + text}]
        return "Thought: I know the answer\nFinal Answer: " + answer, server.says(messages, [])
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    messages += [{"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
                 {"role": "tool", "tool_call_id": "call_1", "content": text}]
    return answer, server.says(messages, offer([("read_file", "path")]))


def counts(server):
    """Counting goes on, and no byte comes again and again."""
    said = server.says([{"role": "user", "content": "Please count."}], [], n_predict=3000)
    return len(said) == 3000 and all(len(set(said[i:i + 20])) > 1 for i in range(len(said) - 20))


def speaks(server):
    """After nine calls and results there is an answer."""
    messages = [{"role": "user", "content": "What is the secret word in the file docs/abc.md?"}]
    for i in range(9):
        function = {"name": "read_file", "arguments": json.dumps({"path": "docs/abc.md"})}
        messages += [{"role": "assistant", "content": "", "tool_calls": [{"id": "call_%d" % i, "type": "function", "function": function}]},
                     {"role": "tool", "tool_call_id": "call_%d" % i, "content": "a line of words in a file\n" * 10}]
    return bool(server.says(messages, offer([("read_file", "path")])).strip())


def check(folder, dialect):
    server, d = Server(folder, dialect), Dialogues(SEED)
    try:
        asks = {"calls": lambda i: ask_for_call(server, dialect, d, ("read", "search_code", "get_weather"), i % 2 == 0),
                "edits": lambda i: ask_for_call(server, dialect, d, ("edit_block",), True),
                "answers": lambda i: ask_for_answer(server, dialect, d)}
        pairs = {what: [asks[what](i) for i in range(n)] for what, n in COUNTS.items()}
        endless, heard = counts(server), dialect == "plain" or speaks(server)
    finally:
        server.process.terminate()
        server.process.wait()
    print("tiny-%s: %s" % (dialect, "counts on" if endless else "does not count on"), flush=True)
    if not heard:
        print("tiny-%s: says nothing after nine results" % dialect, flush=True)
    enough = endless and heard
    for what, each in pairs.items():
        wrong = [(want, got) for want, got in each if want != got.strip()]
        print("tiny-%s: %d of %d %s right" % (dialect, len(each) - len(wrong), len(each), what), flush=True)
        if len(each) - len(wrong) < ENOUGH[what]:
            enough = False
            for want, got in wrong:
                print("  wanted %r\n  got    %r" % (want, got))
    return enough


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not all([check(sys.argv[1], dialect) for dialect in templates.DIALECTS]):
        sys.exit("Not enough is learned: %(calls)d calls, %(edits)d edits and %(answers)d answers have to be right, and all have to count on." % ENOUGH)
