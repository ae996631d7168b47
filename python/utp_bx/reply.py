"""The answers of bx as values. docs/parse.md explains every field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field as of
from typing import Any, Literal, Union

from .pipe import BxError

Json = dict[str, Any]

#: A tool in OpenAI's, Anthropic's, MCP's or a plain style.
ToolList = Union[Sequence[Mapping[str, Any]], "Tools"]


class Tools:
    """A list of tools for many texts, which is encoded as JSON only once."""

    __slots__ = ("json",)

    def __init__(self, tools: Sequence[Mapping[str, Any]]):
        if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
            raise BxError(f"tools: want a list of tools, not a {type(tools).__name__}")
        try:
            self.json = written(list(tools))
        except BxError as e:
            raise BxError(f"tools: {e}") from e


def written(value: Any) -> str:
    """A value as JSON."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as e:
        raise BxError(f"this cannot be written as JSON: {e}") from e


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    raise TypeError(f"want a dict, a list, a str, a number, a bool or None, not {value!r:.100}")


@dataclass(frozen=True)
class Fix:
    """A change that was made to a call: where (a JSON pointer), from, to, and why."""

    path: str
    was: str
    now: str
    why: str
    guess: bool = False  # it decided what was meant; others change only how it was written


@dataclass(frozen=True)
class Issue:
    """What is still wrong with the arguments, worded so that a model can correct them."""

    path: str
    message: str


@dataclass(frozen=True)
class Call:
    """A tool call. One whose status is "invalid" does not fit its tool: see issues."""

    id: str
    name: str
    arguments: Json | None  # None: raw_arguments has a text
    grammar: str  # the dialect, or "native"
    status: Literal["ok", "repaired", "invalid"] = "ok"
    fixes: tuple[Fix, ...] = ()
    issues: tuple[Issue, ...] = ()
    raw_arguments: str | None = None
    offset: int | None = None  # in bytes of the text as UTF-8
    length: int | None = None
    field: str = ""  # "reasoning": the place is in that text of a provider's reply

    @property
    def arguments_json(self) -> str:
        """The arguments as a text, as in OpenAI's API."""
        if self.arguments is None:
            return self.raw_arguments or ""
        text = json.dumps(self.arguments, ensure_ascii=False)
        return text if text.isascii() or not _HALVES.search(text) else json.dumps(self.arguments)


_HALVES = re.compile("[\ud800-\udfff]")  # of a letter: what UTF-8 cannot hold


@dataclass(frozen=True)
class Problem:
    """A call that could not be read. This is no error: its text is part of the content."""

    kind: str
    message: str
    grammar: str = ""
    name: str = ""
    raw: str = ""
    offset: int | None = None
    length: int | None = None
    field: str = ""


@dataclass(frozen=True)
class Event:
    """An event of a stream. If it has a call, that is complete and can be run."""

    kind: Literal["text", "think", "call-start", "call-delta", "call", "problem", "mark"]
    text: str = ""  # of "text" and "problem": joins the content; of "think": the reasoning
    part: int = 0
    name: str = ""  # of "call-start"
    call: Call | None = None  # of "call"
    problem: Problem | None = None
    raw: str = ""  # what it covers of the model's text


@dataclass(frozen=True)
class Reply:
    """The content, reasoning and calls of a model's text."""

    content: str
    reasoning: str
    tool_calls: list[Call]
    problems: list[Problem]
    events: list[Event] = of(default_factory=list[Event])  # of a stream: those of its end


@dataclass(frozen=True)
class Rendered:
    """Messages for a model without tools of its own, and the dialect to read its answer by."""

    dialect: str
    messages: list[Json]


@dataclass(frozen=True)
class Translation:
    """A text of one provider's API in the form of another's."""

    output: Any  # an object; of a stream its text
    losses: list[Json]  # what the other API cannot express: path, what, why
    path: str = ""  # where a request goes
    header: dict[str, str] = of(default_factory=dict[str, str])
    broken: str = ""  # why a stream broke off


def call_of(j: Json) -> Call:
    return Call(
        j["id"],
        j["name"],
        j.get("arguments"),
        j["grammar"],
        j["status"],
        tuple(Fix(f.get("path", ""), f.get("was", ""), f.get("now", ""), f.get("why", ""), f.get("guess", False)) for f in j["fixes"]),
        tuple(Issue(i.get("path", ""), i.get("message", "")) for i in j["issues"]),
        j.get("arguments_raw"),
        j.get("offset"),
        j.get("length"),
        j.get("in", ""),
    )


def problem_of(j: Json) -> Problem:
    return Problem(j["kind"], j.get("message", ""), j.get("grammar", ""), j.get("name", ""), j.get("raw", ""), j.get("offset"), j.get("length"), j.get("in", ""))


def event_of(j: Json) -> Event:
    kind = j["kind"]
    if kind == "text" or kind == "think":
        return Event(kind, j.get("text", ""), j["part"], raw=j.get("raw", ""))
    return Event(
        kind,
        j.get("text", ""),
        j["part"],
        j["call"].get("name", "") if "call" in j else "",
        call_of(j["tool_call"]) if "tool_call" in j else None,
        problem_of(j["problem"]) if "problem" in j else None,
        j.get("raw", ""),
    )


def reply_of(j: Json) -> Reply:
    return Reply(
        j["content"],
        j["reasoning"],
        [call_of(c) for c in j["tool_calls"]],
        [problem_of(p) for p in j["problems"]],
        [event_of(e) for e in j.get("events", ())],
    )
