"""How long a reply of a kilobyte takes, and a piece of it: python -m tests.bench"""

import statistics
import time

import utp_bx

TOOLS = [
    {
        "name": name,
        "description": "One of the tools that can be called.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]},
    }
    for name in ("get_weather", "search_code", "read_file", "write_file", "run")
]
TEXT = "The forecast for the week says that it will rain on most days. " * 15 + '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>'


def measured(name, what, n):
    took = []
    for _ in range(n):
        start = time.perf_counter()
        what()
        took.append((time.perf_counter() - start) * 1e6)
    took.sort()
    print(f"{name:<44} p50 {statistics.median(took):7.1f} µs   p99 {took[n * 99 // 100]:8.1f} µs")


def main():
    tools = utp_bx.Tools(TOOLS)
    utp_bx.parse(TEXT, tools)
    measured(f"parse, a reply of {len(TEXT)} bytes, Tools", lambda: utp_bx.parse(TEXT, tools), 5000)
    measured("parse, its five tools as a list each time", lambda: utp_bx.parse(TEXT, TOOLS), 5000)
    stream = utp_bx.Stream(tools)
    pieces = iter([TEXT[i : i + 4] for i in range(0, len(TEXT), 4)] * 20)
    measured("feed, a piece of 4 characters", lambda: stream.feed(next(pieces)), 5000)


if __name__ == "__main__":
    main()
