"""A client made of MCP's Python SDK: what bx mcp serve offers, over both transports
and in the protocols with sessions and without, with a user who says yes, one who
says no, and without one.

    python client.py BX ROOT URL KEY
"""
import asyncio
import contextlib
import os
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

bx, root, url, key = sys.argv[1:]


def text(result):
    return "".join(getattr(c, "text", "") for c in result.content)


@contextlib.asynccontextmanager
async def connected(transport, mode, answer=None):
    asked = []

    async def elicit(context, params):
        asked.append(params.message)
        return answer

    more = {"elicitation_callback": elicit} if answer else {}
    if transport == "stdio":
        server = StdioServerParameters(command=bx, args=["mcp", "serve", "--root", root, "--tier", "run", "--allow", "shell"], env=dict(os.environ))
        async with Client(stdio_client(server), mode=mode, **more) as c:
            yield c, asked
    else:
        async with httpx2.AsyncClient(headers={"X-API-Key": key}, timeout=30) as h:
            async with Client(streamable_http_client(url, http_client=h), mode=mode, **more) as c:
                yield c, asked


async def cancelled(c):
    """A call that the client leaves is ended, and so is its command, within a second."""
    beats = os.path.join(root, "beats")
    running = asyncio.create_task(c.call_tool("shell", {"command": "while :; do echo x >> beats; sleep 0.02; done"}))
    while not os.path.exists(beats):
        assert not running.done(), running
        await asyncio.sleep(0.01)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    await asyncio.sleep(1)
    size = os.path.getsize(beats)
    await asyncio.sleep(0.2)
    assert os.path.getsize(beats) == size, "a command runs on a second after it was cancelled"
    os.remove(beats)


async def alive(c):
    """A call of which nothing is heard gives a sign of life."""
    told = []

    async def hear(progress, total, message):
        told.append(message)

    done = await c.call_tool("shell", {"command": "sleep 6"}, progress_callback=hear)
    assert not done.is_error and told == ["running for 5 s"], (done, told)


async def main():
    for transport in ["stdio", "http"]:
        for mode in ["legacy", "auto"]:
            name = f"{transport}-{mode}.txt"
            new, write = os.path.join(root, name), {"path": name, "content": "hi"}
            async with connected(transport, mode) as (c, _):
                names = [t.name for t in (await c.list_tools()).tools]
                assert "search_code" in names and "write_file" in names, names
                assert "hello from the file" in text(await c.call_tool("read_file", {"path": "hello.txt"}))
                wrong = await c.call_tool("read_file", {"path": "nope.txt"})
                assert wrong.is_error and "File not found" in text(wrong), wrong
                try:
                    await c.call_tool("no_such_tool", {})
                    raise AssertionError("a tool that is none has a result")
                except MCPError as e:
                    assert "does not exist" in str(e), e
                listed = (await c.list_resources()).resources
                assert any(str(r.uri).endswith("/AGENTS.md") for r in listed), listed
                assert (await c.read_resource(str(listed[0].uri))).contents[0].text == "Keep it short.\n"
                assert len((await c.list_resource_templates()).resource_templates) == 1
                assert "ask" in [p.name for p in (await c.list_prompts()).prompts]
                assert "Keep it short" in (await c.get_prompt("guide")).messages[0].content.text
                mute = await c.call_tool("write_file", write)
                assert mute.is_error and "cannot ask" in text(mute), mute
                protocol = c.protocol_version
            async with connected(transport, mode, ElicitResult(action="decline")) as (c, asked):
                refused = await c.call_tool("write_file", write)
                assert refused.is_error and len(asked) == 1 and not os.path.exists(new), refused
            async with connected(transport, mode, ElicitResult(action="accept", content={"run": True})) as (c, asked):
                done = await c.call_tool("write_file", write)
                assert not done.is_error and open(new).read() == "hi", done
                await cancelled(c)
                await alive(c)
            os.remove(new)
            print(f"  {transport}, {protocol}: ok")


asyncio.run(main())
