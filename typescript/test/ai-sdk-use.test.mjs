// The middleware in use: what programs do with the AI SDK beside one call of one tool.
import assert from "node:assert/strict";
import test from "node:test";

import { toolCalls } from "../dist/ai-sdk.js";

const versions = [["ai6", "MockLanguageModelV3"]];
if (Number(process.versions.node.split(".")[0]) >= 22) versions.push(["ai7", "MockLanguageModelV4"]);

const usage = { inputTokens: { total: 7 }, outputTokens: { total: 5 } };
const hermes = (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const text = (text) => ({ type: "text", text });

// deltas are the parts of a stream that says the contents of a whole reply.
function deltas(content, size) {
  return content.flatMap((part, n) => {
    const id = String(n), cut = (s) => s.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    switch (part.type) {
      case "text": case "reasoning": return [
        { type: `${part.type}-start`, id }, ...cut(part.text).map((delta) => ({ type: `${part.type}-delta`, id, delta })), { type: `${part.type}-end`, id }];
      case "tool-call": return part.providerExecuted ? [part] : [
        { type: "tool-input-start", id: part.toolCallId, toolName: part.toolName },
        { type: "tool-input-delta", id: part.toolCallId, delta: part.input }, { type: "tool-input-end", id: part.toolCallId }, part];
    }
    return [part];
  });
}

// legal checks the order that the SDK's specification wants of a stream.
function legal(parts) {
  const open = new Map(), inputs = new Map();
  for (const p of parts) {
    const [, kind, at] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(p.type) ?? [];
    if (at === "start") {
      assert.ok(!open.has(kind + p.id), `${p.type} ${p.id} twice`);
      open.set(kind + p.id, true);
      if (kind === "tool-input") inputs.set(p.id, p.toolName);
    }
    if (at === "delta" || at === "end") assert.ok(open.has(kind + p.id), `${p.type} ${p.id} outside`);
    if (at === "end") open.delete(kind + p.id);
    if (p.type === "tool-call" && inputs.has(p.toolCallId)) {
      assert.equal(inputs.get(p.toolCallId), p.toolName);
      assert.ok(!open.has("tool-input" + p.toolCallId), "the input ends before the call");
    }
    if (p.type === "finish") assert.equal(open.size, 0, `open at the end: ${[...open.keys()]}`);
  }
}

for (const [version, mock] of versions) {
  const ai = await import(version);
  const { [mock]: Mock, convertArrayToReadableStream } = await import(`${version}/test`);
  const { generateText, streamText, jsonSchema, tool, dynamicTool, wrapLanguageModel, ToolLoopAgent, Output } = ai;
  const stopWhen = (ai.isStepCount ?? ai.stepCountIs)(5);
  const schema = jsonSchema({ type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] });
  const weather = (execute = async ({ city }) => ({ city, sky: "rain" }), more) => tool({ description: "The weather in a city.", inputSchema: schema, execute, ...more });

  // scripted is a model that makes the replies in turn. A reply is its text, its content,
  // or { content, reason, parts }.
  function scripted(replies, options = {}) {
    const asked = [], sent = [];
    const next = (o) => {
      const reply = replies[Math.min(asked.push(o), replies.length) - 1];
      const { content, reason = "stop", parts } = typeof reply === "string" ? { content: [text(reply)] } : Array.isArray(reply) ? { content: reply } : reply;
      return { content, finishReason: { unified: reason, raw: reason }, usage, parts };
    };
    const raw = new Mock({
      modelId: "some-model",
      doGenerate: async (o) => ({ ...next(o), warnings: [], response: { id: "r1", modelId: "m", timestamp: new Date(0) }, providerMetadata: { its: { own: 1 } } }),
      doStream: async (o) => {
        const { content, parts, ...end } = next(o);
        return { stream: convertArrayToReadableStream(parts ?? [
          { type: "stream-start", warnings: [] }, { type: "response-metadata", id: "r1", modelId: "m", timestamp: new Date(0) },
          ...deltas(content, options.size ?? 1), { type: "finish", ...end, providerMetadata: { its: { own: 1 } } }]) };
      },
    });
    const watch = { specificationVersion: "v3", wrapStream: async ({ doStream }) => {
      const r = await doStream(), all = [];
      sent.push(all);
      return { ...r, stream: r.stream.pipeThrough(new TransformStream({ transform(p, out) { all.push(p); out.enqueue(p); } })) };
    } };
    return { asked, sent, model: wrapLanguageModel({ model: wrapLanguageModel({ model: raw, middleware: toolCalls(options) }), middleware: watch }) };
  }

  // both runs a program whole and streamed.
  function both(name, replies, options, run) {
    for (const way of ["whole", "streamed"]) {
      test(`${version}: ${name}, ${way}`, async () => {
        const s = scripted(replies, options);
        const ask = async (o) => {
          o = { model: s.model, stopWhen, tools: { weather: weather() }, prompt: "Weather?", ...o };
          if (way === "whole") return generateText(o);
          const r = streamText({ ...o, onError() {} });
          await r.consumeStream({ onError(e) { throw e; } });
          const steps = await r.steps;
          return { steps, text: await r.text, finishReason: await r.finishReason, usage: await r.usage, totalUsage: await r.totalUsage,
            toolCalls: await r.toolCalls, toolResults: await r.toolResults, content: await r.content, response: await r.response,
            reasoningText: await r.reasoningText, output: o.output && await r.output, providerMetadata: await r.providerMetadata, parts: s.sent };
        };
        await run(ask, s);
        s.sent.forEach(legal);
      });
    }
  }

  both("parallel calls in several steps, one of which fails", [
    `I look.\n${hermes("weather", { city: "Oslo" })}\n${hermes("weather", { city: "Rome" })}`, hermes("weather", { city: "Bergen" }), "Rain, all in all.",
  ], {}, async (ask, { asked }) => {
    const r = await ask({ tools: { weather: weather(async ({ city }) => {
      if (city === "Rome") throw new Error("no such city");
      return { city, sky: "rain" };
    }) } });
    assert.deepEqual(r.steps.map((s) => s.toolCalls.map((c) => c.input.city)), [["Oslo", "Rome"], ["Bergen"], []]);
    assert.deepEqual(r.steps.map((s) => s.finishReason), ["tool-calls", "tool-calls", "stop"]);
    assert.equal(new Set(r.steps.flatMap((s) => s.toolCalls.map((c) => c.toolCallId))).size, 3);
    assert.equal(r.text, "Rain, all in all.");
    assert.equal(r.totalUsage?.inputTokens ?? 21, 21);
    const last = asked[2].prompt;
    assert.deepEqual(last.map((m) => m.role), ["system", "user", "assistant", "user", "assistant", "user"]);
    assert.match(last[2].content[0].text, /^I look\.\n<tool_call>[^]*Oslo[^]*Rome/);
    assert.match(last[3].content[0].text, /rain[^]*ERROR: no such city/i);
    assert.deepEqual(asked[2].tools, undefined);
  });

  both("the reply's metadata stay", ["Hello."], {}, async (ask) => {
    const r = await ask();
    assert.equal(r.text, "Hello.");
    assert.equal(r.finishReason, "stop");
    assert.equal(r.usage.inputTokens, 7);
    assert.equal(r.response.id, "r1");
    assert.deepEqual(r.providerMetadata, { its: { own: 1 } });
  });

  both("a call that the server cut off does not run", [
    { content: [text(`${hermes("weather", { city: "Oslo" }).slice(0, -"\n</tool_call>".length)}`)], reason: "length" },
  ], { problems: [] }, async (ask) => {
    const r = await ask();
    assert.deepEqual(r.toolCalls, []);
    assert.equal(r.finishReason, "length");
  });

  both("a call with its end missing is mended where the model stopped", [
    `${hermes("weather", { city: "Oslo" }).slice(0, -"\n</tool_call>".length)}`, "Rain.",
  ], {}, async (ask) => {
    const r = await ask();
    assert.deepEqual(r.steps[0].toolCalls.map((c) => c.input), [{ city: "Oslo" }]);
    assert.equal(r.steps[0].toolCalls[0].providerMetadata.utp.fixes[0].why, "missing closer");
  });

  const told = [];
  both("a call that does not fit its tool is told", [hermes("weather", { days: 2 }), "Well."], { onProblem: (p) => told.push(p) }, async (ask) => {
    told.length = 0;
    await ask();
    assert.equal(told[0].kind, "invalid");
    assert.match(told[0].message, /city/);
  });

  both("results of all kinds become text, their pictures the user's", [
    hermes("weather", { city: "Oslo" }), "Rain.",
  ], {}, async (ask, { asked }) => {
    const png = "iVBORw0KGgo=", zip = "UEsDBA==";
    await ask({ tools: { weather: weather(async () => "x", { toModelOutput: () => ({ type: "content", value: [
      text("A picture:"), version === "ai6" ? { type: "image-data", data: png, mediaType: "image/png" } : { type: "file", data: { type: "data", data: png }, mediaType: "image/png" },
      version === "ai6" ? { type: "file-data", data: zip, mediaType: "application/zip", filename: "a.zip" } : { type: "file", data: { type: "data", data: zip }, mediaType: "application/zip", filename: "a.zip" },
    ] }) }) } });
    const user = asked[1].prompt.at(-1);
    assert.equal(user.role, "user");
    assert.match(user.content[0].text, /A picture:\n\[image\/png\]\n\[application\/zip a\.zip\]/);
    assert.deepEqual(user.content.slice(1).map((p) => [p.type, p.mediaType, p.data?.data ?? p.data]), [["file", "image/png", png]]);
  });

  both("a tool that returns nothing", [hermes("weather", { city: "Oslo" }), "Done."], {}, async (ask, { asked }) => {
    await ask({ tools: { weather: weather(async () => undefined) } });
    assert.match(asked[1].prompt.at(-1).content[0].text, /null/);
  });

  both("toolChoice required, named and none", [`See: ${hermes("weather", { city: "Oslo" })}`], {}, async (ask, { asked }) => {
    const system = () => asked.at(-1).prompt[0].content;
    assert.equal((await ask({ stopWhen: undefined, toolChoice: "required" })).toolCalls.length, 1);
    assert.match(system(), /must call a tool/);
    assert.equal((await ask({ stopWhen: undefined, toolChoice: { type: "tool", toolName: "weather" } })).toolCalls.length, 1);
    assert.match(system(), /must call the tool weather/);
    const none = await ask({ stopWhen: undefined, toolChoice: "none" });
    assert.match(system(), /do not call any tool/);
    assert.equal(none.toolCalls.length, 0);
    assert.match(none.text, /^See: <tool_call>/);
    for (const o of asked) assert.deepEqual([o.tools, o.toolChoice], [undefined, undefined]);
  });

  both("without tools the text stays as it is", [`A call of Hermes: ${hermes("weather", { city: "Oslo" })}`], {}, async (ask) => {
    const r = await ask({ tools: undefined });
    assert.equal(r.text, `A call of Hermes: ${hermes("weather", { city: "Oslo" })}`);
    assert.deepEqual(r.toolCalls, []);
    assert.equal(r.finishReason, "stop");
  });

  both("calls of earlier steps are text where no tools are offered any more", ["Rain."], {}, async (ask, { asked }) => {
    await ask({ tools: undefined, prompt: undefined, messages: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Oslo" } }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "weather", output: { type: "text", value: "rain" } }] },
    ] });
    assert.deepEqual(asked[0].prompt.map((m) => m.role), ["user", "assistant", "user"]);
  });

  both("a call of an earlier step whose input is no object", ["Well."], {}, async (ask, { asked }) => {
    await ask({ prompt: undefined, messages: [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "weather", input: "{city" }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "weather", output: { type: "error-text", value: "Invalid input" } }] },
    ] });
    assert.match(asked[0].prompt[2].content[0].text, /\{city/);
  });

  both("messages keep their options, system messages their places", ["Well."], {}, async (ask, { asked }) => {
    const providerOptions = { its: { cache: true } };
    await ask({ prompt: undefined, allowSystemInMessages: true, messages: [
      { role: "system", content: "Be brief.", providerOptions }, { role: "user", content: [{ ...text("Hi"), providerOptions }] },
      { role: "system", content: "Be kind." },
      { role: "assistant", content: [text("I look."), { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Oslo" } }], providerOptions },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "weather", output: { type: "text", value: "rain" } }], providerOptions },
      { role: "user", content: "And?" },
    ] });
    const p = asked[0].prompt;
    assert.deepEqual(p.map((m) => [m.role, m.providerOptions]), [["system", providerOptions], ["user", undefined], ["system", undefined], ["assistant", providerOptions], ["user", providerOptions], ["user", undefined]]);
    assert.deepEqual(p[1].content[0].providerOptions, providerOptions);
    assert.match(p[0].content, /^Be brief\.[^]*weather/);
    assert.equal(p[2].content, "Be kind.");
  });

  both("tools that the provider runs stay its own", [[
    { type: "tool-call", toolCallId: "s1", toolName: "search", input: "{}", providerExecuted: true },
    { type: "tool-result", toolCallId: "s1", toolName: "search", result: { found: 1 }, providerExecuted: true }, text("Found."),
  ]], {}, async (ask, { asked }) => {
    const search = { type: ai.tool({ type: "provider", id: "x.search", name: "search", args: {}, inputSchema: jsonSchema({}) }).type, id: "x.search", name: "search", args: {}, inputSchema: jsonSchema({}), isProviderExecuted: true };
    const r = await ask({ tools: { weather: weather(), search }, toolChoice: { type: "tool", toolName: "search" }, prompt: undefined, stopWhen: undefined, messages: [
      { role: "user", content: "?" },
      { role: "assistant", content: [
        { type: "tool-call", toolCallId: "s0", toolName: "search", input: {}, providerExecuted: true },
        { type: "tool-result", toolCallId: "s0", toolName: "search", output: { type: "json", value: {} } }, text("Hm.")] },
      { role: "user", content: "Again." },
    ] });
    assert.deepEqual(asked[0].tools.map((t) => t.name), ["search"]);
    assert.deepEqual(asked[0].toolChoice, { type: "tool", toolName: "search" });
    assert.deepEqual(asked[0].prompt.find((m) => m.role === "assistant").content.map((p) => p.type), ["tool-call", "tool-result", "text"]);
    assert.equal(r.finishReason, "stop");
    assert.equal(r.text, "Found.");
  });

  both("dynamic tools", [hermes("now", { zone: "UTC" }), "Noon."], {}, async (ask) => {
    const r = await ask({ tools: { now: dynamicTool({ description: "the time", inputSchema: jsonSchema({ type: "object", properties: { zone: { type: "string" } } }), execute: async () => "12:00" }) } });
    assert.equal(r.steps[0].toolCalls[0].dynamic, true);
    assert.equal(r.text, "Noon.");
  });

  both("structured output, after a call", [hermes("weather", { city: "Oslo" }), '{"name": "weather", "arguments": {"sky": "rain"}, "n": 1}'], {}, async (ask, { asked }) => {
    const out = Output.object({ schema: jsonSchema({ type: "object", properties: { name: { type: "string" } } }) });
    const r = await ask({ tools: { other: weather(), weather: weather() }, output: out, prepareStep: ({ stepNumber }) => stepNumber ? { toolChoice: "none" } : {} });
    assert.equal(asked[0].responseFormat.type, "json");
    assert.deepEqual(r.output, { name: "weather", arguments: { sky: "rain" }, n: 1 });
  });

  both("structured output without tools", ['{"name": "weather", "arguments": {"city": "Oslo"}}'], {}, async (ask) => {
    const r = await ask({ tools: undefined, output: Output.object({ schema: jsonSchema({ type: "object" }) }) });
    assert.deepEqual(r.output, { name: "weather", arguments: { city: "Oslo" } });
  });

  both("the provider's reasoning and that in the text", [[{ type: "reasoning", text: "First." }, text(`<think>Second.</think>\n${hermes("weather", { city: "Oslo" })}`)], "Rain."], {}, async (ask) => {
    const r = await ask();
    assert.deepEqual(r.steps[0].content.filter((p) => p.type === "reasoning").map((p) => p.text), ["First.", "Second."]);
    assert.equal(r.steps[0].toolCalls.length, 1);
  });

  both("native tools: a call made natively and in the text runs once", [[
    { type: "tool-call", toolCallId: "n1", toolName: "weather", input: '{"days":2,"city":"Oslo"}' }, text(`I look.\n${hermes("weather", { city: "Oslo", days: 2 })}\n${hermes("weather", { city: "Rome" })}`),
  ], [text(hermes("weather", { city: "Bodø" })), { type: "tool-call", toolCallId: "n2", toolName: "weather", input: '{"city":"Bodø"}' }], "Rain."], { native: true }, async (ask, { asked }) => {
    const r = await ask();
    assert.deepEqual(r.steps.map((s) => s.toolCalls.map((c) => c.input.city)), [["Oslo", "Rome"], ["Bodø"], []]);
    assert.equal(asked[0].tools.length, 1);
    assert.equal(asked[1].prompt.at(-1).role, "tool");
  });

  both("a name that is no tool, and input that cannot be, are mended by the program", [`${hermes("forecast_for_sea", { city: "Oslo" })}\n${hermes("weather", { days: "many" })}`, "Well."], {}, async (ask) => {
    const repaired = [];
    const strict = jsonSchema({ type: "object" }, { validate: (v) => v.city ? { success: true, value: v } : { success: false, error: new Error("city?") } });
    const repair = async ({ toolCall, error }) => { repaired.push(error.name); return { ...toolCall, toolName: "weather", input: '{"city":"Rome"}' }; };
    const r = await ask({ tools: { weather: tool({ inputSchema: strict, execute: async () => "rain" }) }, experimental_repairToolCall: repair, repairToolCall: repair });
    assert.deepEqual(repaired, ["AI_NoSuchToolError", "AI_InvalidToolInputError"]);
    assert.deepEqual(r.steps[0].toolCalls.map((c) => c.input), [{ city: "Rome" }, { city: "Rome" }]);
  });

  both("wrapped twice", [`I look.\n${hermes("weather", { city: "Oslo" })}`, "Rain."], {}, async (ask, { model, asked }) => {
    const r = await ask({ model: wrapLanguageModel({ model, middleware: toolCalls() }) });
    assert.deepEqual(r.steps.map((s) => s.toolCalls.length), [1, 0]);
    assert.equal(asked[0].prompt.filter((m) => m.role === "system").length, 1);
  });

  test(`${version}: an agent`, async () => {
    const { model } = scripted([hermes("weather", { city: "Oslo" }), "Rain."]);
    const agent = new ToolLoopAgent({ model, instructions: "Be brief.", tools: { weather: weather() } });
    assert.equal((await agent.generate({ prompt: "Weather?" })).text, "Rain.");
    const again = scripted([hermes("weather", { city: "Oslo" }), "Rain."]);
    const r = await new ToolLoopAgent({ model: again.model, tools: { weather: weather() } }).stream({ prompt: "Weather?" });
    let said = "";
    for await (const piece of r.textStream) said += piece;
    assert.equal(said, "Rain.");
  });

  test(`${version}: chunks come in order, and the tool hears of its input`, async () => {
    const long = "word ".repeat(200), chunks = [], heard = [];
    const { model, sent } = scripted([`<think>Hm.</think>I look.\n${hermes("weather", { city: long })}\nDone.`]);
    const r = streamText({ model, prompt: "?", onChunk: ({ chunk }) => { chunks.push(chunk.type); }, tools: { weather: weather(async () => "rain", {
      onInputStart: () => { heard.push("start"); }, onInputDelta: ({ inputTextDelta }) => { heard.push(inputTextDelta); }, onInputAvailable: ({ input }) => { heard.push(input); } }) } });
    await r.consumeStream();
    const order = chunks.filter((t, i) => t !== chunks[i - 1] && !/^start|^finish|^(text|reasoning)-(start|end)$|^tool-input-end$/.test(t));
    assert.deepEqual(order.slice(0, 5), ["reasoning-delta", "text-delta", "tool-input-start", "tool-input-delta", "tool-call"]);
    assert.equal(heard[0], "start");
    assert.deepEqual(JSON.parse(heard.slice(1, -1).join("")), { city: long });
    assert.deepEqual(heard.at(-1), { city: long });
    assert.ok(chunks.filter((t) => t === "tool-input-delta").length > 10);
    sent.forEach(legal);
  });

  test(`${version}: an error of the provider in the stream is told, and what was open does not run`, async () => {
    const ran = [], errors = [];
    const { model } = scripted([{ parts: [
      { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: `I look.\n${hermes("weather", { city: "Oslo" }).slice(0, -13)}` },
      { type: "error", error: new Error("overloaded") }, { type: "finish", finishReason: { unified: "error", raw: "error" }, usage },
    ] }]);
    const r = streamText({ model, prompt: "?", tools: { weather: weather(async () => ran.push(1)) }, onError: ({ error }) => { errors.push(error.message); } });
    const seen = [];
    for await (const p of r.fullStream) seen.push(p);
    assert.ok(errors.includes("overloaded"));
    assert.deepEqual(ran, []);
    assert.match(seen.filter((p) => p.type === "text-delta").map((p) => p.text).join(""), /^I look\./);
  });

  test(`${version}: a stream that breaks off makes no call of what was open`, async () => {
    const { stream } = await toolCalls().wrapStream({ params: { tools: [{ type: "function", name: "weather", inputSchema: {} }] }, doStream: async () => ({ stream: convertArrayToReadableStream([
      { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: hermes("weather", { city: "Oslo" }).slice(0, -13) }, { type: "text-end", id: "1" },
    ]) }) });
    const seen = [];
    for await (const p of stream) seen.push(p.type);
    assert.ok(!seen.includes("tool-call"), seen.join());
  });

  test(`${version}: an abort in the middle`, async () => {
    const abort = new AbortController();
    let cancelled = false, aborted = false;
    const model = wrapLanguageModel({ middleware: toolCalls(), model: new Mock({ doStream: async ({ abortSignal }) => ({ stream: new ReadableStream({
      async pull(out) {
        await new Promise((go) => setTimeout(go, 2));
        if (abortSignal.aborted) return out.error(abortSignal.reason);
        if (!this.begun) out.enqueue({ type: "text-start", id: "1" });
        this.begun = true;
        out.enqueue({ type: "text-delta", id: "1", delta: "word " });
      },
      cancel() { cancelled = true; },
    }) }) }) });
    const r = streamText({ model, prompt: "?", tools: { weather: weather() }, abortSignal: abort.signal, onAbort: () => { aborted = true; } });
    let n = 0;
    for await (const p of r.fullStream) if (p.type === "text-delta" && ++n === 3) abort.abort();
    assert.ok(aborted || cancelled);
    assert.equal(n, 3);
  });

  test(`${version}: what throws in onProblem ends the stream with it`, async () => {
    const { model } = scripted(['Hm. <tool_call>{"name": "wea'], { onProblem: () => { throw new Error("mine"); } });
    const r = streamText({ model, prompt: "?", tools: { weather: weather() }, onError() {} });
    await assert.rejects(async () => { for await (const _ of r.fullStream); }, /mine/);
    await assert.rejects(async () => r.text, /mine/);
  });
}
