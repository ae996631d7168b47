import assert from "node:assert/strict";
import test from "node:test";

import { toolCalls } from "../dist/ai-sdk.js";
import { dialects } from "./dialects.mjs";

// AI SDK 7 needs Node 22; with an older one its tests are left out.
const versions = [["ai6", "MockLanguageModelV3"]];
if (Number(process.versions.node.split(".")[0]) >= 22) versions.push(["ai7", "MockLanguageModelV4"]);

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const stop = { unified: "stop", raw: "stop" };

for (const [name, mock] of versions) {
  const { generateText, streamText, jsonSchema, tool, wrapLanguageModel, isStepCount, stepCountIs } = await import(name);
  const { [mock]: Mock, simulateReadableStream } = await import(`${name}/test`);
  const stopWhen = (isStepCount ?? stepCountIs)(3);
  const get_weather = (calls) => tool({
    description: "The weather in a city.",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] }),
    execute: async (input) => { calls?.push(input); return { sky: "rain" }; },
  });

  // A model that says the texts in turn, and keeps what it was asked.
  const model = (texts, size, asked = []) => {
    const say = (options) => { asked.push(options); return texts[Math.min(asked.length, texts.length) - 1]; };
    return new Mock({
      modelId: "some-model",
      doGenerate: async (o) => ({ content: [{ type: "text", text: say(o) }], finishReason: stop, usage, warnings: [] }),
      doStream: async (o) => {
        const text = say(o);
        const pieces = [];
        for (let i = 0; i < text.length; i += size) pieces.push(text.slice(i, i + size));
        return { stream: simulateReadableStream({ chunkDelayInMs: null, initialDelayInMs: null, chunks: [
          { type: "stream-start", warnings: [] }, { type: "text-start", id: "1" },
          ...pieces.map((delta) => ({ type: "text-delta", id: "1", delta })),
          { type: "text-end", id: "1" }, { type: "finish", finishReason: stop, usage },
        ] }) };
      },
    });
  };
  const wrapped = (texts, { size = 1, asked, ...options } = {}) =>
    wrapLanguageModel({ model: model(texts, size, asked), middleware: toolCalls(options) });

  for (const [dialect, text] of Object.entries(dialects)) {
    test(`${name}: ${dialect}, whole`, async () => {
      const calls = [];
      const r = await generateText({ model: wrapped([text, "Rain."]), tools: { get_weather: get_weather(calls) }, prompt: "Weather?", stopWhen });
      assert.deepEqual(calls, [{ city: "Oslo" }]);
      assert.equal(r.text, "Rain.");
      assert.equal(r.steps[0].finishReason, "tool-calls");
      assert.equal(r.steps[0].text.trim(), "I will look.");
    });

    for (const size of [1, 4]) {
      test(`${name}: ${dialect}, streamed in pieces of ${size}`, async () => {
        const seen = [];
        const r = streamText({ model: wrapped([text], { size }), tools: { get_weather: get_weather() }, prompt: "Weather?" });
        for await (const part of r.fullStream) seen.push(part);
        const calls = seen.filter((p) => p.type === "tool-call");
        assert.deepEqual(calls.map((c) => [c.toolName, c.input]), [["get_weather", { city: "Oslo" }]]);
        assert.equal(seen.filter((p) => p.type === "text-delta").map((p) => p.text).join("").trim(), "I will look.");
        assert.ok(seen.findIndex((p) => p.type === "text-delta") < seen.findIndex((p) => p.type === "tool-call"));
        assert.equal(await r.finishReason, "tool-calls");
      });
    }
  }

  test(`${name}: the first text is there before the end`, async () => {
    const middleware = toolCalls();
    let finish;
    const source = new ReadableStream({
      start(out) {
        out.enqueue({ type: "text-start", id: "1" });
        for (const delta of "I will look. 1 < 2") out.enqueue({ type: "text-delta", id: "1", delta });
        finish = () => out.close();
      },
    });
    const { stream } = await middleware.wrapStream({ doStream: async () => ({ stream: source }), params: {} });
    const reader = stream.getReader();
    let said = "";
    while (said.length < 10) {
      const { value } = await reader.read();
      if (value.type === "text-delta") said += value.delta;
    }
    assert.ok("I will look. ".startsWith(said), said);
    finish();
    for (let r; !(r = await reader.read()).done;) if (r.value.type === "text-delta") said += r.value.delta;
    assert.equal(said, "I will look. 1 < 2"); // no call came of it
  });

  test(`${name}: the model is told of its tools, of its calls and of their results`, async () => {
    const asked = [];
    await generateText({
      model: wrapped([dialects.hermes, "Rain."], { asked, dialect: "hermes" }), tools: { get_weather: get_weather() },
      system: "Be brief.", prompt: "Weather?", stopWhen,
    });
    assert.equal(asked.length, 2);
    for (const o of asked) {
      assert.equal(o.tools, undefined);
      assert.equal(o.prompt[0].role, "system");
      assert.match(o.prompt[0].content, /^Be brief\.[^]*get_weather[^]*The weather in a city\./);
    }
    const second = asked[1].prompt;
    assert.ok(!second.some((m) => m.role === "tool"));
    assert.match(JSON.stringify(second.at(-2)), /tool_call.*get_weather.*Oslo/);
    assert.match(JSON.stringify(second.at(-1)), /rain/);
    assert.equal(second.at(-1).role, "user");
  });

  test(`${name}: a picture stays where it is`, async () => {
    const asked = [];
    await generateText({
      model: wrapped(["A cat."], { asked }), tools: { get_weather: get_weather() },
      messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image", image: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) }] }],
    });
    const user = asked[0].prompt.find((m) => m.role === "user");
    assert.deepEqual(user.content.map((p) => p.type), ["text", "file"]);
    assert.ok(user.content[1].data, "its bytes");
  });

  test(`${name}: native tools stay, and the text is read`, async () => {
    const asked = [];
    const r = await generateText({ model: wrapped([dialects.glm], { asked, native: true }), tools: { get_weather: get_weather() }, prompt: "Weather?" });
    assert.equal(asked[0].tools.length, 1);
    assert.deepEqual(r.toolCalls.map((c) => c.input), [{ city: "Oslo" }]);
  });

  test(`${name}: ids differ, thinking is reasoning, problems are told, no call is text`, async () => {
    const problems = [];
    const text = "<think>Hm.</think>" + dialects.hermes + "\n" + dialects.hermes.replace("Oslo", "Rome") + '\n<tool_call>{"name": "get_wea';
    const r = streamText({ model: wrapped([text], { size: 3, onProblem: (p) => problems.push(p.kind) }), tools: { get_weather: get_weather() }, prompt: "?" });
    const seen = [];
    for await (const part of r.fullStream) seen.push(part);
    const calls = seen.filter((p) => p.type === "tool-call");
    assert.deepEqual(calls.map((c) => c.input.city), ["Oslo", "Rome"]);
    assert.notEqual(calls[0].toolCallId, calls[1].toolCallId);
    assert.equal(seen.filter((p) => p.type === "reasoning-delta").map((p) => p.text).join(""), "Hm.");
    assert.deepEqual(problems, ["truncated"]);
    const none = await generateText({ model: wrapped(["Just words."]), prompt: "?" });
    assert.equal(none.text, "Just words.");
    assert.equal(none.finishReason, "stop");
  });
}
