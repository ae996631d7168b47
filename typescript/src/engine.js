// The engine as an object, for programs that choose where to load the WebAssembly from.

/** Thrown for options that are not valid, or for a stream that has ended. */
export class ParseError extends Error {
  name = "ParseError";
}

/** Starts a new engine. `source` is the WebAssembly: its bytes, a module, a response, or
 * its address; by default the file next to this one. */
export async function load(source) {
  const door = new Door(), module = await moduleOf(source);
  for (const { name } of WebAssembly.Module.imports(module)) door.imports[name] ??= () => unknown; // files and the like
  door.open(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: door.imports }));
  return new Engine(door);
}

const compiled = new Map(); // by address: engines of one program share the code

async function moduleOf(source) {
  source = await source;
  if (Object.prototype.toString.call(source) === "[object WebAssembly.Module]") return source; // also another realm's
  source ??= new URL("./parse.wasm", import.meta.url);
  if (!(source instanceof URL) && typeof source !== "string") return compile(source);
  const { href } = source instanceof URL ? source : new URL(source, globalThis.location?.href ?? import.meta.url);
  if (!compiled.has(href)) {
    compiled.set(href, read(new URL(href)).then(compile));
    compiled.get(href).catch(() => compiled.delete(href)); // the next one may find it
  }
  return compiled.get(href);
}

async function compile(source) {
  if (typeof Response === "undefined" || !(source instanceof Response)) return WebAssembly.compile(source);
  const type = source.headers.get("Content-Type") ?? "";
  if (!source.ok || /^text\/html\b/.test(type)) {
    throw new Error(`the engine cannot be loaded from ${source.url}: have ${source.ok ? "a page" : `HTTP ${source.status}`}, want WebAssembly. `
      + "Serve the file there, or say where it is with load(address) of @unifiedtoolprotocol/parse/engine");
  }
  return /^application\/wasm\b/.test(type) ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}

const files = "node:fs"; // by name: bundlers for browsers would look for it

async function read(url) {
  if (url.protocol !== "file:") return fetch(url);
  const { readFileSync } = await import(/* webpackIgnore: true */ /* @vite-ignore */ files);
  return readFileSync(url);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const [done, unknown] = [0, 52]; // numbers of WASI: success, no such function

// Door passes texts to the engine and returns its answers. It also provides what the
// engine needs of a host: the time, random numbers, and stderr.
class Door {
  #calls;
  #memory;
  #bytes = new Uint8Array();
  #slept = 0n; // nanoseconds that the engine did not have to wait for
  #awake = false;
  #words = "";
  #broken;

  imports = {
    clock_time_get: (clock, _, at) => {
      const ms = clock === 0 ? Date.now() : performance.timeOrigin + performance.now();
      this.#view().setBigUint64(at, BigInt(Math.round(ms * 1e6)) + this.#slept, true);
      return done;
    },
    random_get: (at, size) => {
      for (let i = 0; i < size; i += 65536) crypto.getRandomValues(this.#at(at + i, Math.min(65536, size - i)));
      return done;
    },
    fd_write: (_, list, n, written) => {
      const view = this.#view();
      let size = 0;
      for (let i = list; i < list + 8 * n; i += 8) {
        if (this.#words.length < 2000) this.#words += decoder.decode(this.#at(view.getUint32(i, true), view.getUint32(i + 4, true)));
        size += view.getUint32(i + 4, true);
      }
      view.setUint32(written, size, true);
      return done;
    },
    proc_exit: (code) => {
      throw new Error(`exit ${code}`);
    },
    poll_oneoff: (wanted, events, n, count) => this.#sleep(wanted, events, n, count),
    sched_yield: () => done,
  };

  open({ exports }) {
    this.#calls = exports;
    this.#memory = exports.memory;
  }

  get memory() {
    return this.#memory.buffer.byteLength;
  }

  has(name) {
    return name in this.#calls;
  }

  #view() {
    return new DataView(this.#memory.buffer);
  }

  #at(from, size) {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes.subarray(from, from + size);
  }

  // Instead of waiting, this advances the engine's clock. Only clock events (0) occur.
  #sleep(wanted, events, n, count) {
    const view = this.#view();
    let at = events;
    for (let i = wanted; i < wanted + 48 * n; i += 48) {
      if (view.getUint8(i + 8) !== 0) continue;
      if (view.getUint16(i + 40, true) === 0) this.#slept += view.getBigUint64(i + 24, true);
      view.setBigUint64(at, view.getBigUint64(i, true), true);
      view.setUint32(at + 8, 0, true);
      at += 32;
    }
    view.setUint32(count, (at - events) / 32, true);
    return done;
  }

  // call calls a function of the engine with numbers and returns its number, below 0 for an error.
  call(name, ...numbers) {
    if (this.#broken) throw this.#broken;
    if (!this.#awake) crypto.getRandomValues(new Uint8Array(1)); // a worker has none before its first request
    try {
      if (!this.#awake) this.#calls.wake();
      this.#awake = true;
      return this.#calls[name](...numbers);
    } catch (e) {
      throw this.#broken = this.#words ? new Error(`the engine ended: ${this.#words.trim()}`, { cause: e }) : e;
    }
  }

  // told is call with a text as the last argument.
  told(name, n, text) {
    let size = text.length;
    let at = this.call("room", size) >>> 0;
    let { read, written } = encoder.encodeInto(text, this.#at(at, size));
    if (read < text.length) {
      size *= 3;
      at = this.call("room", size) >>> 0;
      ({ written } = encoder.encodeInto(text, this.#at(at, size)));
    }
    return n === undefined ? this.call(name, at, written) : this.call(name, n, at, written);
  }

  // number returns an answer that is a number.
  number(answer) {
    if (answer < 0) throw new ParseError(this.#said(-answer));
    return answer;
  }

  // value returns an answer in JSON as a value.
  value(answer) {
    return JSON.parse(this.#said(this.number(answer)));
  }

  // reply returns an answer in JSON together with its content. If the content is the whole
  // text, that is used as it is, unless it had halves of characters.
  reply(answer, text) {
    const reply = this.value(answer), size = this.call("size");
    if (size < 0 && text?.isWellFormed?.()) reply.content = text;
    else if (size !== 0) reply.content = decoder.decode(this.#at(this.call("content") >>> 0, Math.abs(size)));
    return reply;
  }

  #said(size) {
    return decoder.decode(this.#at(this.call("said") >>> 0, size));
  }
}

function noText(value) {
  return new ParseError(`want a text, have ${value === null ? "null" : typeof value}`);
}

const roles = ["system", "user", "assistant", "tool"];

// named throws for the path of a dialect, which only bx parse accepts.
function named(dialect) {
  if (/\/|\.json$/.test(dialect)) throw new ParseError(`dialect: want a name, have the file ${dialect}`);
}

const kept = 64; // sets of options that the engine keeps ready

class Engine {
  #door;
  #hints = new Map();
  #lost;

  constructor(door) {
    this.#door = door;
    this.#lost = new FinalizationRegistry((n) => {
      try {
        door.call("free", n);
      } catch {} // an engine that crashed holds nothing
    });
  }

  // ready returns the engine's number for a set of options.
  #ready(options) {
    const { tools, dialect, model, prefill, policy, cut, ...others } = options ?? {};
    for (const name in others) throw new ParseError(`there is no option ${name}, only tools, dialect, model, prefill, policy and cut`);
    named(dialect);
    const key = JSON.stringify({ tools, grammar: dialect, model, prefill, policy, cut });
    let n = this.#hints.get(key);
    if (n !== undefined) return n;
    n = this.#door.number(this.#door.told("hints", undefined, key));
    if (this.#hints.size >= kept) {
      const [oldest, number] = this.#hints.entries().next().value;
      this.#hints.delete(oldest);
      this.#door.call("forget", number);
    }
    this.#hints.set(key, n);
    return n;
  }

  /** The memory of the engine, in bytes. */
  get memory() {
    return this.#door.memory;
  }

  /** Finds the calls in a text. */
  parse(text, options) {
    if (typeof text !== "string") throw noText(text);
    return this.#door.reply(this.#door.told("parse", this.#ready(options), text), text);
  }

  /** Begins a text that comes in pieces. */
  stream(options) {
    const n = this.#door.number(this.#door.call("open", this.#ready(options)));
    const s = new Stream(this.#door, n, () => this.#lost.unregister(s));
    this.#lost.register(s, n, s);
    return s;
  }

  /** Writes tools, calls and results as the text of a dialect. The engine must have been
   * loaded from full.wasm. */
  render(ask) {
    if (!this.#door.has("render")) throw new ParseError("this engine only reads: load full.wasm, as @unifiedtoolprotocol/parse/full does");
    if (typeof ask !== "object" || ask === null) throw new ParseError("want { tools, messages, … }");
    named(ask.dialect);
    (ask.messages ?? []).forEach((m, i) => {
      if (!Array.isArray(m?.parts)) throw new ParseError(`messages[${i}]: want { role, parts: [{ type: "text", text }, …] }`);
      if (!roles.includes(m.role)) throw new ParseError(`messages[${i}]: the role: want ${roles.join(", ")}, have ${m.role}`);
    });
    return this.#door.value(this.#door.told("render", undefined, JSON.stringify(ask)));
  }
}

class Stream {
  #door;
  #n;
  #over;
  #half = ""; // of a character whose other half is in the next piece

  constructor(door, n, over) {
    this.#door = door;
    this.#n = n;
    this.#over = over;
  }

  /** Reads a piece and returns its events: text, calls, problems. */
  feed(piece) {
    if (typeof piece !== "string") throw noText(piece);
    piece = this.#half + piece;
    this.#half = "";
    const last = piece.charCodeAt(piece.length - 1);
    if (last >= 0xd800 && last < 0xdc00) {
      this.#half = piece.slice(-1);
      piece = piece.slice(0, -1);
    }
    return this.#fed(piece);
  }

  #fed(piece) {
    if (piece === "") return [];
    const answer = this.#door.told("feed", this.#n, piece);
    return answer === 0 ? [] : this.#door.value(answer);
  }

  /** Ends the text and returns the whole reply. `cut` says that it was cut off. */
  close(cut = false) {
    const rest = this.#half;
    this.#half = "";
    const before = this.#fed(rest);
    const reply = this.#door.reply(this.#door.call("close", this.#n, cut));
    this.#over();
    reply.events = [...before, ...(reply.events ?? [])];
    return reply;
  }

  /** Frees a stream that is not read to its end. */
  free() {
    this.#door.call("free", this.#n);
    this.#over();
  }
}
