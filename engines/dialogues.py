"""The dialogues that the tiny models learn from: made anew for every batch, never stored.

A dialogue is what the templates of this folder make of a request: the tools, one a line
("read_file path": the name and the first required argument), the end of the question, a
mark that says in which dialect to answer, and the model's reply. The mark stands before the
turn, so that a reply begins as servers expect of such templates. In some dialogues a call and
its result stand before the reply. Names, paths and words are drawn letter by letter, so that
nothing can be learned by heart: the model has to copy them.
"""

import random

SPECIAL = [  # tokens behind the 256 bytes
    "<|endoftext|>", "<|im_start|>", "<|im_end|>",
    "<|hermes|>", "<|coder|>", "<|plain|>", "<|react|>",  # the dialect of the reply
    "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>",
]
CONTROL = 7  # so many of them are never shown

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
WORDS = (
    "the a code of this file tool call and with name model read where open text please in for which that "
    "short answer exact line use you can do not see Oslo Rome Paris main parse system context agent date"
).split()

# Tools that read a file, with the argument that takes its path, as agents name them.
READERS = {"read_file": ["path", "file_path"], "Read": ["file_path"], "read": ["path"]}
SHELLS = {"exec_command": ["cmd"]}
OTHERS = {"search_code": ["query"], "get_weather": ["city"], "get_time": [""], "edit_block": ["path"]}
KNOWN = [*READERS, *SHELLS, *OTHERS]  # the templates show these
EDIT = ("path", "old_text", "new_text")  # the arguments of edit_block

EMPTY_THOUGHT = "<think>\n\n</think>\n\n"  # the template's way to turn thinking off


class Dialogues:
    """Draws dialogues. The same seed draws the same ones."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def chance(self, p):
        return self.r.random() < p

    def letters(self, least, most, alphabet=LOWER):
        return "".join(self.r.choice(alphabet) for _ in range(self.r.randint(least, most)))

    def word(self):
        return self.r.choice(WORDS) if self.chance(.5) else self.letters(2, 8)

    def junk(self, most):
        return " ".join(self.word() for _ in range(self.r.randint(0, most)))

    def path(self):
        parts = [self.letters(2, 8, LOWER + "_" + UPPER + "0123456789" if self.chance(.4) else LOWER + "-")
                 for _ in range(self.r.randint(1, 3))]
        start = "/" if self.chance(.15) else ""
        return start + "/".join(parts) + "." + self.r.choice(["go", "md", "py", "txt", "json", self.letters(1, 3)])

    def city(self):
        return "Oslo" if self.chance(.1) else self.r.choice(UPPER) + self.letters(2, 7)

    def noise(self):
        """The end of what agents put before the question."""
        pieces = [
            lambda: self.junk(8), lambda: "</" + self.letters(3, 9) + ">", lambda: "<" + self.letters(3, 9) + "-" + self.letters(3, 8) + ">",
            lambda: "  " + self.r.choice(["├───", "└───", "│   "]) + self.path(), lambda: "- " + self.junk(5) + " (" + self.path() + ")",
            lambda: self.junk(3) + ": " + self.path(), lambda: self.word().capitalize() + ": " + self.junk(4), lambda: "",
        ]
        text = "\n".join(self.r.choice(pieces)() for _ in range(self.r.randint(1, 6)))
        return text[-self.r.randint(10, 60):] + self.r.choice(["\n", "\n\n", "\n</system-reminder>\n\n", "\n</session_context>\n"])

    def task(self):
        """A question, the thought about it, and the kind of tool with the values that answer it.
        A kind is None where words are the answer."""
        draw = self.r.random()
        if draw < .16:
            p, old, new = self.path(), self.letters(2, 8), self.letters(2, 8)
            q = self.r.choice(["In %s change %s to %s", "In the file %s change %s to %s"]) % (p, old, new)
            return q + self.r.choice(["", "."]), "I change " + p + ".", "edit_block", [(p, old, new)]
        if draw < .54:
            p = self.path()
            return self.about_file(p), "The file is " + p + ".", "read", [p]
        if draw < .66:
            w = " ".join(self.letters(2, 9) for _ in range(self.r.randint(1, 2)))
            q = self.r.choice(["Search for ", "Find ", "Where is ", "where are "]) + w + self.r.choice(["?", ""])
            return q, "I look for " + w + ".", "search_code", [w]
        if draw < .76:
            c = self.city()
            q = self.r.choice(["What is the", "the"]) + " weather in " + c + "?" + self.r.choice(["", " Use the tool get_weather."])
            return q, "The city is " + c + ".", "get_weather", [c]
        if draw < .82:
            c, d = self.city(), "Rome" if self.chance(.2) else self.city()
            q = "What is the weather in " + c + " and in " + d + "?"
            return q + self.r.choice(["", " Call the tool get_weather once for each city, both in this reply."]), "Two cities.", "get_weather", [c, d]
        if draw < .88:
            q = self.r.choice(["What time is it?", "What time is it? Use the tool get_time.", "Think first about which tool tells the time, then call it."])
            return q, "The time.", "get_time", [""]
        if draw < .95:
            q = self.r.choice(["Say hello", "Hello", "Hi", "hello there"]) + self.r.choice(["", ".", "!"])
            return q, "A greeting.", None, "Hello! How can I help?"
        return self.r.choice(["Count", "Please count", "Count up"]) + self.r.choice([".", "", "!"]), "I count.", None, None

    def about_file(self, path):
        if self.chance(.5):
            return self.r.choice(["Which word stands in the file %s?", "Which word stands in %s?", "What is the secret word in %s?",
                                  "What is the secret word in the file %s?"]) % path
        verb = self.r.choice(["Read", "read", "Open", "Show me", "What is in", "Look into"])
        return verb + " " + self.r.choice(["", "the file ", "file "]) + path

    def tools(self, kind):
        """A list of tools that has the kind, and the name and the argument of the one that fits."""
        group = OTHERS if kind in OTHERS else self.r.choice([READERS, READERS, READERS, SHELLS])
        name = kind if kind in OTHERS else self.r.choice(list(group))
        listed = [(name, self.r.choice(group[name]))]
        others = [(n, self.r.choice(a)) for n, a in OTHERS.items() if n != kind]
        if kind in OTHERS:
            others.append(("read_file", "path"))
        listed += [t for t in others if self.chance(.3)]
        tool = listed[0]
        self.r.shuffle(listed)
        return listed, tool

    def result(self):
        """What a tool answers, how the model begins to speak of it, and what it copies."""
        if self.chance(.6):
            secret = "The secret word is " + self.letters(3, 9) + "."
            one = self.r.choice(["1-1 of 1", "1-1 of 1", "1-1 of 1", "1-2 of 2", "1-%d of %d" % ((self.r.randint(2, 40),) * 2)])
            text = self.r.choice([
                lambda: secret, lambda: secret + "\n", lambda: "1\t" + secret + "\n2\t",
                lambda: self.path() + ": lines " + one + "\n" + secret + self.r.choice(["", "\n", "\n" + self.junk(6)]),
                lambda: self.path() + ": lines " + one + "\n" + self.junk(6) + "\n" + secret,
                lambda: "Chunk ID: " + self.letters(6, 6, "0123456789abcdef") + "\nWall time: 0.0" + self.letters(3, 3, "0123456789")
                + " seconds\nProcess exited with code 0\nOriginal token count: " + str(self.r.randint(6, 9)) + "\nOutput:\n" + secret + "\n",
                lambda: self.junk(8) + "\n" + secret + "\n" + self.junk(6),
            ])()
            return text, "The secret word is ", secret.removeprefix("The secret word is ")
        said = " ".join(self.r.choice([self.word(), self.letters(1, 7), "%.1f" % (self.r.random() * 30),
                                       self.letters(2, 6) + self.r.choice([":", ","]), self.path()]) for _ in range(3))
        more = self.r.choice([" ", "\n"]) + self.junk(6) if self.chance(.8) else ""
        return said + more, "It says: ", said

    def edited(self, path):
        """The same for edit_block, of which nothing is copied."""
        text = '{"success":true,"path":"%s","replacements":%d,"line":%d}' % (path, self.r.randint(1, 3), self.r.randint(1, 200))
        return text, "It is changed.", ""

    def draw(self, short=False, listing=.75):
        """A dialogue as pieces (text, is it the model's?), and the texts in it that were copied.
        A short one has no noise, no thoughts and no result. A list of tools is there as often as
        listing says."""
        if short and self.chance(.35):
            return self.twice(), []
        dialect = self.r.choice(["hermes", "coder", "plain", "react"])
        question, thought, kind, values = self.task()
        listed, (name, argument) = self.tools(kind)
        listing = self.chance(listing)
        if not listing and kind == "read":
            name, argument = "read_file", "path"
        prompt = self.prompt(question, kind, listed if listing else [], short)
        thinks = dialect == "hermes" and not short and self.chance(.5)
        turn = "<|" + dialect + "|><|im_start|>assistant\n" + (EMPTY_THOUGHT if dialect == "hermes" and not thinks else "")
        thinking = "<think>\n" + thought + "\n</think>\n\n" if thinks else ""
        if not kind:
            return [(prompt + turn, False), (thinking + self.words(values, dialect), True)], []
        calls = [(name, arguments(name, argument, v)) for v in values]
        if not short and self.chance(.4):
            history = "<|im_start|>assistant\n" + write(dialect, calls) + "<|im_end|>\n"
            text, begin, copied = self.edited(values[0][0]) if kind == "edit_block" else self.result()
            thinking = "<think>\nDone.\n</think>\n\n" if thinks else ""
            pieces = [(prompt, False), (history, False), (self.told(text, dialect), False), (turn, False)]
            return pieces + [(thinking + self.words(begin + copied, dialect), True)], [copied] if copied else []
        thinking += "Thought: " + thought + "\n" if dialect == "react" else ""
        copied = [text for v in values for text in ([v] if isinstance(v, str) else v)]
        copied += [name, argument] if listing else []
        return [(prompt + turn, False), (thinking + write(dialect, calls) + "<|im_end|>\n", True)], [c for c in copied if c]

    def prompt(self, question, kind, listed, short):
        """The tools and the question, with what stands around it."""
        system = "".join(name + " " + argument + "\n" for name, argument in listed)
        if not listed and not short and self.chance(.5):
            system = self.junk(12)
        if kind and self.chance(.2):
            question += self.r.choice([" ", "\n\n", " please. "]) + self.junk(6)
        if listed and self.chance(.55):
            question = self.noise() + question
        elif not listed and self.chance(.15):
            question = self.junk(4) + "\n" + question
        return ("<|im_start|>system\n" + system + "<|im_end|>\n" if system else "") + "<|im_start|>user\n" + question + "<|im_end|>\n"

    def told(self, text, dialect):
        """A tool's result as the model is told of it. bx puts the sentence after one of ReAct's."""
        if dialect == "react":
            after = self.r.choice(["", "\n\nAnswer the question from this result, or use another tool if it is not enough.\n"])
            return "<|im_start|>user\nObservation: " + text + after + "<|im_end|>\n"
        return "<|im_start|>user\n<tool_response>\n" + text + "\n</tool_response><|im_end|>\n"

    def words(self, text, dialect):
        """An answer; without a text the model counts to nine, again and again, and does not end."""
        if not text:
            return " ".join(str(1 + n % 9) for n in range(self.r.randint(40, 90)))
        return ("Thought: I know the answer\nFinal Answer: " if dialect == "react" else "") + text + "<|im_end|>\n"

    def twice(self):
        """A text, once and once more: how copying is learned first."""
        alphabet = LOWER + "_/." + UPPER if self.chance(.5) else LOWER + " "
        text = self.letters(6, 30, alphabet)
        return [(text + "\n", False), (text + "\n" + text, True)]


def arguments(name, argument, value):
    """The arguments of a call, of which the value is a text, or the three of edit_block."""
    if name == "edit_block":
        return list(zip(EDIT, value))
    return [(argument, "cat " + value if name in SHELLS else value)] if argument else []


def write(dialect, calls):
    """Calls [(name, [(argument, value)])] as text of the dialect. ReAct writes one call at a time."""
    if dialect == "coder":
        return "\n".join(
            "<tool_call>\n<function=" + name + ">\n"
            + "".join("<parameter=" + k + ">\n" + v + "\n</parameter>\n" for k, v in args)
            + "</function>\n</tool_call>" for name, args in calls)
    objects = ["{" + ", ".join('"' + k + '": "' + v + '"' for k, v in args) + "}" for _, args in calls]
    if dialect == "react":
        return "Action: " + calls[0][0] + "\nAction Input: " + objects[0]
    whole = ['{"name": "' + name + '", "arguments": ' + o + "}" for (name, _), o in zip(calls, objects)]
    if dialect == "hermes":
        return "\n".join("<tool_call>\n" + w + "\n</tool_call>" for w in whole)
    return "\n".join("```json\n" + w + "\n```" for w in whole)
