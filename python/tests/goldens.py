"""The cases of the project's grammars, and what bx itself says of them."""

from __future__ import annotations

import json
import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ["UTP_BX_BINARY"]


@dataclass
class Case:
    file: str
    text: str
    tools: list[dict[str, Any]] | None
    options: dict[str, Any] = field(default_factory=dict)

    def pieces(self, rnd: random.Random, most: int = 12) -> list[str]:
        cuts = sorted(rnd.randrange(len(self.text) + 1) for _ in range(rnd.randrange(most)))
        return [self.text[a:b] for a, b in zip([0, *cuts], [*cuts, len(self.text)])]


def sections(text: str) -> dict[str, str]:
    """The files of a txtar archive."""
    out: dict[str, str] = {}
    name = None
    for line in text.splitlines(keepends=True):
        if line.startswith("-- ") and line.rstrip().endswith(" --"):
            name = line.rstrip()[3:-3].strip()
            out[name] = ""
        elif name is not None:
            out[name] += line
    return {k: v.removesuffix("\n") for k, v in out.items()}


def cases() -> list[Case]:
    out = []
    for path in sorted((ROOT / "grammar" / "testdata").glob("*/*.txtar")):
        try:
            s = sections(path.read_bytes().decode())
        except UnicodeDecodeError:
            continue  # the text is no text: JSON cannot carry it
        options: dict[str, Any] = {}
        if path.parent.name != "auto":
            options["grammar"] = path.parent.name
        if "prefill" in s:
            options["prefill"] = s["prefill"]
        tools = None
        if "tools" in s:
            listed = s["tools"].strip()
            tools = json.loads(listed) if listed.startswith("[") else [{"name": n, "parameters": {"type": "object"}} for n in listed.split()]
        out.append(Case(f"{path.parent.name}/{path.name}", s["in"], tools, options))
    assert len(out) > 700, len(out)
    return out


def said(cases: list[Case]) -> list[dict[str, Any]]:
    """What `bx parse` says of each whole text: a process of its own for all."""
    lines = []
    for i, c in enumerate(cases):
        line = {"id": i, "input": c.text, **c.options}
        if c.tools is not None:
            line["tools"] = c.tools
        lines.append(json.dumps(line))
    run = subprocess.run([BINARY, "parse", "--jsonl", "--input", "text"], input="\n".join(lines), capture_output=True, text=True)
    out = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(out) == len(cases) and not any("error" in o for o in out), run.stderr
    return out


def plain(reply: Any) -> dict[str, Any]:
    """A reply as bx writes it, to compare."""
    return {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": [call(c) for c in reply.tool_calls],
        "problems": [{"in" if k == "field" else k: v for k, v in vars(p).items() if v not in ("", None)} for p in reply.problems],
    }


def call(c: Any) -> dict[str, Any]:
    out = {k: getattr(c, k) for k in ("id", "name", "grammar", "status")}
    for k, v in (("arguments", c.arguments), ("arguments_raw", c.raw_arguments), ("offset", c.offset), ("length", c.length)):
        if v is not None:
            out[k] = v
    if c.field:
        out["in"] = c.field
    out["fixes"] = [vars(f) for f in c.fixes]
    out["issues"] = [vars(i) for i in c.issues]
    return out


def wanted(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of bx without what plain leaves out."""
    out = {k: v for k, v in answer.items() if k not in ("id", "events")}
    out["problems"] = [{k: v for k, v in p.items() if v != ""} for p in out["problems"]]
    for c in out["tool_calls"]:
        c["fixes"] = [{"was": "", "now": "", "guess": False, **f} for f in c["fixes"]]
    return out
