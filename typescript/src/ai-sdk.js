// A middleware for the AI SDK: models without tools get them in the prompt, and calls
// that a model writes as text, in any dialect, become tool calls.
import { parse, render, stream } from "./full.js";

/** See ai-sdk.d.ts. */
export function toolCalls({ dialect, model, native = false, policy, newId = randomId, onProblem } = {}) {
  // reading returns how to read a reply, or nothing if no tools may be called.
  const reading = (params, of) => {
    const tools = toolsOf(params.providerOptions?.utp?.tools ?? params.tools);
    if (tools.length > 0 && params.toolChoice?.type !== "none") return { tools, model: model ?? of?.modelId, policy };
  };
  return {
    specificationVersion: "v3",

    async transformParams({ params, model: of }) {
      const { tools: given = [], toolChoice, ...rest } = params;
      const tools = toolsOf(given);
      if (native || (tools.length === 0 && !params.prompt.some(calls))) return params;
      const kept = given.filter((t) => t.type !== "function"); // that the provider runs
      const forKept = toolChoice?.type === "tool" && !tools.some((t) => t.name === toolChoice.toolName);
      const ask = { tools, dialect, model: model ?? of?.modelId, choice: forKept ? undefined : choiceOf(toolChoice) };
      const offered = toolChoice?.type === "none" ? [] : given.filter((t) => t.type === "function");
      return {
        ...rest,
        ...(kept.length > 0 && { tools: kept, ...((forKept || toolChoice?.type === "none") && { toolChoice }) }),
        prompt: rendered(ask, params.prompt),
        providerOptions: { ...params.providerOptions, utp: { tools: offered } },
      };
    },

    async wrapGenerate({ doGenerate, params, model: of }) {
      const result = await doGenerate(), options = reading(params, of);
      if (!options) return result;
      const cut = cutOff(result.finishReason), once = new Once();
      for (const part of result.content) once.add("native", part);
      const content = result.content.flatMap((part) => part.type !== "text" ? [part]
        : contentOf(parse(part.text, { ...options, cut }), part, newId, onProblem).filter((p) => !once.twice("text", p)));
      return { ...result, content, finishReason: reason(result.finishReason, content.some(isCall)) };
    },

    async wrapStream({ doStream, params, model: of }) {
      const result = await doStream(), options = reading(params, of);
      if (!options) return result;
      const blocks = new Blocks(() => stream(options), newId, onProblem);
      return { ...result, stream: result.stream.pipeThrough(new TransformStream({
        transform: (part, out) => blocks.part(part, out),
        flush: (out) => blocks.end(out, true),
        cancel: () => blocks.free(),
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

const word = (reason) => reason?.unified ?? reason; // an object since version 6

function reason(given, calls) {
  if (!calls || !["stop", "other", "unknown", undefined].includes(word(given))) return given;
  return typeof given === "object" ? { ...given, unified: "tool-calls" } : "tool-calls";
}

// cutOff reports whether the text may have ended in the middle of a call.
function cutOff(reason) {
  return ["length", "error", "content-filter"].includes(word(reason));
}

// calls reports whether a message holds calls or results, which a model without tools
// must get as text.
function calls({ role, content }) {
  return role === "tool" || (role === "assistant" && content.some(isCall));
}

// rendered returns a prompt without tools: the engine writes their list, calls and
// results as text; parts unknown to it are kept apart, by number.
function rendered(ask, prompt) {
  const beside = [];
  const keep = (part) => ({ type: "unknown", provider: "ai-sdk", raw: beside.push(part) - 1 });
  const image = (part) => ({ type: "blob", mime: part.mediaType, extra: beside.push(part) - 1 });
  const messages = prompt.map(({ role, content }) => ({
    role, parts: typeof content === "string" ? [{ type: "text", text: content }] : content.map((part) => {
      switch (part.type) {
        case "text": return part.providerOptions ? keep(part) : { type: "text", text: part.text };
        case "tool-call": return part.providerExecuted ? keep(part) : { type: "call", id: part.toolCallId, name: part.toolName, arguments: argumentsOf(part.input) };
        case "tool-result": return role === "tool" ? resultOf(part, image) : keep(part);
      }
      return keep(part);
    }),
  }));
  // Of tool messages in a row comes one message; a system message may be added in front.
  const from = prompt.filter((m, i) => m.role !== "tool" || prompt[i + 1]?.role !== "tool");
  const written = render({ ...ask, messages }).messages;
  return written.map(({ role, parts }, i) => ({
    ...from[i - (written.length - from.length)],
    role, content: role === "system" ? parts.map((p) => p.text).join("\n")
      : parts.map((p) => p.type === "text" ? { type: "text", text: p.text } : beside[p.raw ?? p.extra]),
  }));
}

// argumentsOf returns arguments as an object, wrapping any other value in one.
function argumentsOf(input) {
  return typeof input === "object" && !Array.isArray(input) ? input ?? {} : { input };
}

function resultOf({ toolCallId, toolName, output }, image) {
  const status = { "error-text": "error", "error-json": "error", "execution-denied": "denied" }[output.type] ?? "ok";
  const text = (text) => ({ type: "text", text });
  let parts;
  switch (output.type) {
    case "content": parts = output.value.map((p) => p.type === "text" ? text(p.text) : imageOf(p, image) ?? text(`[${[p.mediaType ?? p.type, p.filename ?? p.url].filter(Boolean).join(" ")}]`)); break;
    case "execution-denied": parts = [text(output.reason ?? "")]; break;
    case "json": case "error-json": parts = [text(JSON.stringify(output.value))]; break;
    default: parts = [text(output.value)];
  }
  return { type: "result", call_id: toolCallId, name: toolName, status, parts };
}

// imageOf is a picture of a result, which the user's message takes along.
function imageOf({ type, data, url, mediaType, filename }, image) {
  if (type === "image-url") return image({ type: "file", data: new URL(url), mediaType: "image/*" });
  if (data && mediaType?.startsWith("image/")) return image({ type: "file", data, mediaType, ...(filename && { filename }) });
}

function contentOf(reply, part, newId, onProblem) {
  reply.problems.forEach((p) => onProblem?.(p));
  return [
    ...(reply.reasoning ? [{ type: "reasoning", text: reply.reasoning }] : []),
    ...(reply.content.trim() ? [{ ...part, text: reply.content }] : []),
    ...reply.tool_calls.map((c) => callOf(newId(), c, onProblem)),
  ];
}

// callOf returns a call in the SDK's form, with its fixes and issues.
function callOf(toolCallId, c, onProblem) {
  const { name, fixes, issues } = c;
  if (c.status === "invalid") onProblem?.({ kind: "invalid", name, message: issues.map((i) => i.path ? `${i.path}: ${i.message}` : i.message).join("; ") });
  return {
    type: "tool-call", toolCallId, toolName: name, input: c.arguments_raw ?? JSON.stringify(c.arguments),
    ...(fixes.length + issues.length > 0 && { providerMetadata: { utp: { fixes, issues } } }),
  };
}

// isCall reports whether a part is a call that the program is to run.
function isCall(part) {
  return part.type === "tool-call" && !part.providerExecuted;
}

// Once finds calls that a model makes both in its text and natively.
class Once {
  #made = { text: new Set(), native: new Set() };
  #names = { text: new Set(), native: new Set() };

  add(source, part) {
    if (!isCall(part)) return;
    this.#made[source].add(keyOf(part));
    this.#names[source].add(part.toolName);
  }

  /** Whether a call of this tool may turn out to be made the other way too. */
  may(source, toolName) {
    return this.#names[source === "text" ? "native" : "text"].has(toolName);
  }

  twice(source, part) {
    return isCall(part) && this.#made[source === "text" ? "native" : "text"].has(keyOf(part));
  }
}

function keyOf({ toolName, input }) {
  const sorted = (_, v) => v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort()) : v;
  try {
    input = JSON.stringify(JSON.parse(input || "{}"), sorted);
  } catch {} // as it stands
  return JSON.stringify([toolName, input]);
}

// Blocks reads the text blocks of a stream, each with its own parser.
class Blocks {
  #open = new Map(); // by the id of the block
  #ended; // a block whose end is known: whether it was cut off, what comes next says
  #held = new Map(); // calls that may have been made already, by id
  #once = new Once();
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
    if (this.#ended && part.type !== "raw" && part.type !== "response-metadata") {
      this.#close(this.#ended, out, part.type === "error" || (part.type === "finish" && cutOff(part.finishReason)));
    }
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
        if (!this.#open.has(part.id)) break;
        this.#ended = part;
        return;
      case "finish":
        this.end(out, cutOff(part.finishReason));
        out.enqueue({ ...part, finishReason: reason(part.finishReason, this.#called) });
        return;
    }
    this.#send("native", part, out);
  }

  /** Ends the blocks that are still open; cut says that the stream broke off. */
  end(out, cut) {
    if (this.#ended) this.#close(this.#ended, out, cut);
    for (const id of [...this.#open.keys()]) this.#close({ type: "text-end", id }, out, cut);
    for (const parts of this.#held.values()) for (const p of parts) out.enqueue(p);
    this.#held.clear();
  }

  free() {
    for (const { stream } of this.#open.values()) stream.free();
    this.#open.clear();
  }

  #close(end, out, cut) {
    const block = this.#open.get(end.id);
    this.#open.delete(end.id);
    this.#ended = undefined;
    this.#events(end.id, block, block.stream.close(cut).events, out);
    for (const [, p] of block.parts) this.#over(p, out);
    if (block.said) out.enqueue(end);
  }

  // send passes a part on. If a call is made both in text and natively, the second is
  // dropped; to decide, its parts are held until it is complete.
  #send(source, part, out) {
    const id = part.toolCallId ?? part.id;
    if (part.type === "tool-input-start" && this.#once.may(source, part.toolName)) this.#held.set(id, []);
    const held = this.#held.get(id);
    if (part.type !== "tool-call") return held && part.type.startsWith("tool-input-") ? void held.push(part) : out.enqueue(part);
    this.#held.delete(id);
    if (this.#once.twice(source, part)) return;
    for (const p of held ?? []) out.enqueue(p);
    this.#once.add(source, part);
    this.#called ||= isCall(part);
    out.enqueue(part);
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
    if (!p.over) this.#send("text", { type: p.kind === "think" ? "reasoning-end" : "tool-input-end", id: p.id }, out);
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
          this.#send("text", { type: "tool-input-start", id: call.id, toolName: e.call.name }, out);
          break;
        }
        case "call-delta":
          this.#send("text", { type: "tool-input-delta", id: p.id, delta: e.text }, out);
          break;
        case "call":
          this.#over(p, out);
          this.#send("text", callOf(p.id, e.tool_call, this.#onProblem), out);
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
