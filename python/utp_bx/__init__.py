"""Read any model's tool calls, in any dialect, whole or as a stream.

    >>> from utp_bx import parse
    >>> reply = parse('<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>')
    >>> reply.tool_calls[0].name, reply.tool_calls[0].arguments
    ('f', {'x': 1})

The work is done by the program bx, one process for all calls of this one, which is
started with the first. docs/python.md tells more.
"""

from .engine import Bx, Stream, aparse, arender_messages, parse, render, render_messages, translate
from .pipe import BxCrashed, BxError, BxNotFound
from .reply import Call, Event, Fix, Issue, Problem, Rendered, Reply, Tools, Translation

__all__ = [
    "Bx",
    "BxCrashed",
    "BxError",
    "BxNotFound",
    "Call",
    "Event",
    "Fix",
    "Issue",
    "Problem",
    "Rendered",
    "Reply",
    "Stream",
    "Tools",
    "Translation",
    "aparse",
    "arender_messages",
    "parse",
    "render",
    "render_messages",
    "translate",
]
