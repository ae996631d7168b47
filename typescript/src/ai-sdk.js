// A middleware for the AI SDK: models without tools get them in the prompt, and the
// calls in a model's text become calls, in whatever dialect it wrote them.
import { parse, render, stream } from "./full.js";

/** See ai-sdk.d.ts. */
export function toolCalls({ dialect, model, native = false, policy, newId = randomId, onProblem } = {}) {
  const options = (params, of) => ({
    tools: toolsOf(params.providerOptions?.utp?.tools ?? params.tools), model: model ?? of?.modelId, policy,
  });
  return {
    specificationVersion: "v3",

    async transformParams({ params, model: of }) {
      const tools = toolsOf(params.tools);
      if (native || tools.length === 0) return params;
      const ask = { tools, dialect, model: model ?? of?.modelId, choice: choiceOf(params.toolChoice) };
      const { tools: given, toolChoice, ...rest } = params;
      const kept = given.filter((t) => t.type !== "function"); // that the provider runs
      return {
        ...rest,
        ...(kept.length > 0 && { tools: kept }),
        prompt: rendered(ask, params.prompt),
        providerOptions: { ...params.providerOptions, utp: { tools: given.filter((t) => t.type === "function") } },
      };
    },

    async wrapGenerate({ doGenerate, params, model: of }) {
      const result = await doGenerate();
      const content = result.content.flatMap((part) =>
        part.type === "text" ? contentOf(parse(part.text, options(params, of)), newId, onProblem) : [part]);
      return { ...result, content, finishReason: reason(result.finishReason, content.some((p) => p.type === "tool-call")) };
    },

    async wrapStream({ doStream, params, model: of }) {
      const result = await doStream();
      const reader = new Blocks(() => stream(options(params, of)), newId, onProblem);
      return { ...result, stream: result.stream.pipeThrough(new TransformStream({
        transform: (part, out) => reader.part(part, out),
        flush: (out) => reader.end(out),
      })) };
    },
  };
}

function randomId() {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

function toolsOf(tools = []) {
  return tools.filter((t) => t.type === "function").map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }));
}

function choiceOf(choice) {
  switch (choice?.type) {
    case "required": return { mode: "required" };
    case "none": return { mode: "none" };
    case "tool": return { mode: "named", name: choice.toolName };
  }
}

function reason(given, calls) {
  if (!calls) return given;
  return typeof given === "object" ? { ...given, unified: "tool-calls" } : "tool-calls";
}

// rendered is a prompt without tools: the engine writes their list, calls and results;
// parts that it does not know are kept beside it, by number.
function rendered(ask, prompt) {
  const beside = [];
  const keep = (part) => ({ type: "unknown", provider: "ai-sdk", raw: beside.push(part) - 1 });
  const messages = prompt.map(({ role, content }) => ({
    role, parts: typeof content === "string" ? [{ type: "text", text: content }] : content.map((part) => {
      switch (part.type) {
        case "text": return part.providerOptions ? keep(part) : { type: "text", text: part.text };
        case "tool-call": return { type: "call", id: part.toolCallId, name: part.toolName, arguments: part.input ?? {} };
        case "tool-result": return role === "tool" ? resultOf(part) : keep(part);
      }
      return keep(part);
    }),
  }));
  return render({ ...ask, messages }).messages.map(({ role, parts }) => ({
    role, content: role === "system" ? parts.map((p) => p.text).join("\n")
      : parts.map((p) => p.type === "unknown" ? beside[p.raw] : { type: "text", text: p.text }),
  }));
}

function resultOf({ toolCallId, toolName, output }) {
  const status = { "error-text": "error", "error-json": "error", "execution-denied": "denied" }[output.type] ?? "ok";
  let text = output.value ?? output.reason ?? "";
  if (output.type === "content") text = output.value.map((p) => p.type === "text" ? p.text : `[${p.mediaType ?? p.type}]`).join("\n");
  else if (typeof text !== "string") text = JSON.stringify(text);
  return { type: "result", call_id: toolCallId, name: toolName, status, parts: [{ type: "text", text }] };
}

function contentOf(reply, newId, onProblem) {
  reply.problems.forEach((p) => onProblem?.(p));
  return [
    ...(reply.reasoning ? [{ type: "reasoning", text: reply.reasoning }] : []),
    ...(reply.content.trim() ? [{ type: "text", text: reply.content }] : []),
    ...reply.tool_calls.map((c) => callOf(newId(), c)),
  ];
}

function callOf(toolCallId, c) {
  return { type: "tool-call", toolCallId, toolName: c.name, input: c.arguments_raw ?? JSON.stringify(c.arguments) };
}

// Blocks reads the text blocks of a stream, each with a parser of its own.
class Blocks {
  #open = new Map(); // by the id of the block
  #begin;
  #newId;
  #onProblem;
  #called = false;

  constructor(begin, newId, onProblem) {
    this.#begin = begin;
    this.#newId = newId;
    this.#onProblem = onProblem;
  }

  part(part, out) {
    switch (part.type) {
      case "text-start":
        this.#open.set(part.id, { start: part, stream: this.#begin(), parts: new Map(), text: "" });
        return;
      case "text-delta": {
        const block = this.#open.get(part.id);
        if (block) return this.#events(part.id, block, block.stream.feed(part.delta), out);
        break;
      }
      case "text-end":
        if (this.#open.has(part.id)) return this.#close(part.id, part, out);
        break;
      case "finish":
        this.end(out);
        out.enqueue({ ...part, finishReason: reason(part.finishReason, this.#called) });
        return;
    }
    out.enqueue(part);
  }

  /** Ends what the stream left open. */
  end(out) {
    for (const id of [...this.#open.keys()]) this.#close(id, { type: "text-end", id }, out);
  }

  #close(id, end, out) {
    const block = this.#open.get(id);
    this.#open.delete(id);
    this.#events(id, block, block.stream.close().events ?? [], out);
    for (const [, p] of block.parts) this.#over(p, out);
    if (block.said) out.enqueue(end);
  }

  #text(block, id, delta, out) {
    if (!block.said) {
      block.text += delta;
      if (!block.text.trim()) return; // white space alone is no text
      delta = block.text;
      block.said = true;
      out.enqueue(block.start);
    }
    out.enqueue({ type: "text-delta", id, delta });
  }

  #over(p, out) {
    if (!p.over) out.enqueue({ type: p.kind === "think" ? "reasoning-end" : "tool-input-end", id: p.id });
    p.over = true;
  }

  #events(id, block, events, out) {
    for (const e of events) {
      const p = block.parts.get(e.part);
      if (p?.kind === "think" && e.kind !== "think") this.#over(p, out);
      switch (e.kind) {
        case "text":
          this.#text(block, id, e.text, out);
          break;
        case "think":
          if (!p) {
            block.parts.set(e.part, { kind: "think", id: `${id}-${e.part}` });
            out.enqueue({ type: "reasoning-start", id: `${id}-${e.part}` });
          }
          out.enqueue({ type: "reasoning-delta", id: `${id}-${e.part}`, delta: e.text });
          break;
        case "call-start": {
          const call = { kind: "call", id: this.#newId() };
          block.parts.set(e.part, call);
          out.enqueue({ type: "tool-input-start", id: call.id, toolName: e.call.name });
          break;
        }
        case "call-delta":
          out.enqueue({ type: "tool-input-delta", id: p.id, delta: e.text });
          break;
        case "call":
          this.#over(p, out);
          out.enqueue(callOf(p.id, e.tool_call));
          this.#called = true;
          break;
        case "problem":
          if (p?.kind === "call") this.#over(p, out);
          if (e.problem) this.#onProblem?.(e.problem);
          if (e.text) this.#text(block, id, e.text, out);
          break;
      }
    }
  }
}
