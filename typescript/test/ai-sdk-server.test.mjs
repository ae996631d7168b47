// The middleware over a real provider of the AI SDK, before a server that refuses tools.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";

import { toolCalls } from "../dist/ai-sdk.js";
import { bx } from "./cases.mjs";

const versions = [["ai6", "openai-compatible6"]];
if (Number(process.versions.node.split(".")[0]) >= 22) versions.push(["ai7", "openai-compatible7"]);

const call = (city) => `<tool_call>\n{"name": "weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
const program = bx();

// serve plays a script until the test is over.
async function serve(t, turns) {
  const script = join(mkdtempSync(join(tmpdir(), "mock-")), "script.txtar");
  writeFileSync(script, `-- server --\nkind: openai\nmodel: plain no-tools\nchunk: 3\n${turns}`);
  const child = spawn(program, ["mock", script, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => child.kill());
  for await (const line of createInterface(child.stderr)) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url) return `${url}/v1`;
  }
  throw new Error("bx mock did not begin");
}

for (const [version, provider] of versions) {
  const { generateText, streamText, jsonSchema, tool, wrapLanguageModel, ...ai } = await import(version);
  const { createOpenAICompatible } = await import(provider);
  const stopWhen = (ai.isStepCount ?? ai.stepCountIs)(4);
  const program = async (t, turns, options) => {
    const baseURL = await serve(t, turns), ran = [];
    return { ran, model: wrapLanguageModel({ model: createOpenAICompatible({ name: "its", baseURL, includeUsage: true })("plain"), middleware: toolCalls(options) }), stopWhen, maxRetries: 0, prompt: "Weather?",
      tools: { weather: tool({ description: "The weather.", inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }), execute: async ({ city }) => { ran.push(city); return "rain"; } }) } };
  };
  const turns = (words) => `
-- turn --
no tools
contains weather
${words}
-- text --
I look.
${call("Oslo")}
${call("Rome")}
-- turn --
no tools
contains <tool_response>
last user
${words}
-- text --
Rain.
`;

  test(`${version}: a server that refuses tools, whole`, async (t) => {
    const { ran, ...o } = await program(t, turns("no stream"));
    const r = await generateText(o);
    assert.deepEqual(ran, ["Oslo", "Rome"]);
    assert.deepEqual(r.steps.map((s) => s.finishReason), ["tool-calls", "stop"]);
    assert.equal(r.text, "Rain.");
    assert.ok(r.steps[0].usage.outputTokens > 0);
  });

  test(`${version}: a server that refuses tools, streamed`, async (t) => {
    const { ran, ...o } = await program(t, turns("stream"));
    const r = streamText(o), seen = [];
    for await (const p of r.fullStream) seen.push(p);
    assert.deepEqual(ran, ["Oslo", "Rome"]);
    assert.deepEqual((await r.steps).map((s) => s.finishReason), ["tool-calls", "stop"]);
    assert.equal(await r.text, "Rain.");
    const texts = seen.filter((p) => p.type === "text-delta").map((p) => p.text);
    assert.ok(texts.length > 2 && texts.join("").startsWith("I look."), texts.join("|"));
  });

  for (const [name, how] of [["the limit of tokens", "-- stop length --"], ["the connection that breaks", "-- cut --"], ["an error in the stream", "-- stream-error --\noverloaded"]]) {
    test(`${version}: a call is cut off by ${name}`, async (t) => {
      const { ran, ...o } = await program(t, `-- turn --\n-- text --\nI look.\n${call("Oslo").slice(0, -13)}\n${how}\n`);
      const seen = [];
      try {
        for await (const p of streamText({ ...o, onError() {} }).fullStream) seen.push(p);
      } catch {} // a connection that breaks
      assert.deepEqual(ran, []);
      assert.ok(seen.some((p) => p.type === "text-delta"));
    });
  }
}
