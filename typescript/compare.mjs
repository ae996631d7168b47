// Ten dialects through this middleware and through those of @ai-sdk-tool/parser, whole
// and streamed: one call each. node typescript/compare.mjs
import * as theirs from "@ai-sdk-tool/parser";
import { generateText, jsonSchema, streamText, tool, wrapLanguageModel } from "ai6";
import { MockLanguageModelV3, simulateReadableStream } from "ai6/test";

import { toolCalls } from "./dist/ai-sdk.js";
import { dialects } from "./test/dialects.mjs";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finishReason = { unified: "stop", raw: "stop" };
const tools = { get_weather: tool({ description: "The weather in a city.",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }) }) };

const model = (text, size) => new MockLanguageModelV3({
  doGenerate: async () => ({ content: [{ type: "text", text }], finishReason, usage, warnings: [] }),
  doStream: async () => ({ stream: simulateReadableStream({ chunkDelayInMs: null, initialDelayInMs: null, chunks: [
    { type: "stream-start", warnings: [] }, { type: "text-start", id: "1" },
    ...[...Array(Math.ceil(text.length / size)).keys()].map((i) => ({ type: "text-delta", id: "1", delta: text.slice(i * size, (i + 1) * size) })),
    { type: "text-end", id: "1" }, { type: "finish", finishReason, usage },
  ] }) }),
});

// Judged is the call alone; what of its markup stays in the text is not.
const good = (calls) => calls.length === 1 && calls[0].toolName === "get_weather" && calls[0].input?.city === "Oslo";

async function read(middleware, text, size) {
  const m = wrapLanguageModel({ model: model(text, size || 1), middleware });
  try {
    if (!size) {
      const r = await generateText({ model: m, tools, prompt: "?" });
      return good(r.toolCalls);
    }
    const seen = [];
    for await (const p of streamText({ model: m, tools, prompt: "?", onError() {} }).fullStream) seen.push(p);
    return good(seen.filter((p) => p.type === "tool-call"), seen.filter((p) => p.type === "text-delta").map((p) => p.text).join(""));
  } catch {
    return false;
  }
}

const readers = { "@unifiedtoolprotocol/parse": toolCalls() };
for (const [name, m] of Object.entries(theirs)) if (/ToolMiddleware$/.test(name) && m?.wrapGenerate) readers[name] = m;
for (const quiet of ["warn", "error", "debug"]) console[quiet] = () => {};
console.log("middleware", "whole", "4 characters", "1 character", "what it reads whole");
for (const [name, m] of Object.entries(readers)) {
  const row = [], names = [];
  for (const size of [0, 4, 1]) {
    let n = 0;
    for (const [dialect, text] of Object.entries(dialects)) {
      const ok = await read(m, text, size);
      n += ok;
      if (ok && !size) names.push(dialect);
    }
    row.push(n);
  }
  console.log(name, ...row, names.join(","));
}
