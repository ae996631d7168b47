// The types as a program uses them: checked by tsc, never run.
import { parse, stream, ParseError, type Reply, type ToolCall } from "../dist/index.js";
import { render } from "../dist/full.js";
import wasm from "../dist/wasm.js";
import { load, type Engine } from "../dist/engine.js";
import { toolCalls } from "../dist/ai-sdk.js";

const tools = [{ type: "function" as const, function: { name: "now", parameters: { type: "object" } } }, { name: "plain" }];

const reply: Reply = parse("text", { tools, dialect: "hermes", cut: true });
const call: ToolCall | undefined = reply.tool_calls[0];
const zone: unknown = call?.arguments?.zone;

const s = stream({ model: "qwen3" });
for (const e of s.feed("piece")) {
  if (e.kind === "call") console.log(e.tool_call.status === "invalid", e.part);
  if (e.kind === "text") console.log(e.text.length);
}
s.close(true).problems.map((p) => p.kind);

const engine: Engine = await load(new URL("https://example.com/parse.wasm"));
await load(wasm);
console.log(zone, engine.memory, render({ tools }).text, new ParseError("x").message, toolCalls({ dialect: "hermes" }));

export const middleware = toolCalls({ onProblem: (p) => console.log(p.kind === "invalid", p.message) });

// @ts-expect-error: no such option
parse("text", { grammars: [] });
