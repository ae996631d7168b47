import assert from "node:assert/strict";
import test from "node:test";

// The engine of the middleware, counting what is given back.
let freed = 0;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...of) => {
  const { exports } = await instantiate(...of);
  return { exports: { ...exports, free: (n) => { freed++; exports.free(n); } } };
};
const { toolCalls } = await import("../dist/ai-sdk.js");

test("a stream that is cancelled, or whose source breaks, is given back at once", async () => {
  for (const broken of [false, true]) {
    let n = 0;
    const source = new ReadableStream({ pull(out) {
      if (broken && n === 2) return out.error(new Error("broke"));
      out.enqueue(n++ ? { type: "text-delta", id: "1", delta: "a < b " } : { type: "text-start", id: "1" });
    } });
    const { stream } = await toolCalls().wrapStream({ params: { tools: [{ type: "function", name: "now", inputSchema: {} }] }, doStream: async () => ({ stream: source }) });
    freed = 0;
    const reader = stream.getReader();
    await reader.read();
    if (broken) await assert.rejects(async () => { while (!(await reader.read()).done); }, /broke/);
    else await reader.cancel();
    assert.equal(freed, 1, broken ? "its source broke" : "cancelled");
  }
});
