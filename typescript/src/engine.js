// The engine as an object: for programs that say where the WebAssembly comes from.

/** What the engine refuses: options that it cannot read, a stream that is over. */
export class ParseError extends Error {
  name = "ParseError";
}

let engines = 0;

/** Starts an engine of its own. `source` is the WebAssembly: its bytes, a module, a
 * response, or its address; by default the file beside this one. */
export async function load(source) {
  const Go = await goRuntime();
  const go = new Go();
  const { instance } = await instantiate(source, go.importObject);
  return begin(go, instance);
}

async function instantiate(source, imports) {
  source ??= new URL("./parse.wasm", import.meta.url);
  if (source instanceof WebAssembly.Module) return { instance: await WebAssembly.instantiate(source, imports) };
  if (source instanceof URL || typeof source === "string") source = await read(new URL(source));
  if (typeof Response !== "undefined" && source instanceof Response) source = await source.arrayBuffer();
  return WebAssembly.instantiate(source, imports);
}

async function read(url) {
  if (url.protocol !== "file:") return fetch(url);
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

// What runs Go puts stand-ins for a file system on the global object; they are
// taken away again once a program has them.
const standIns = ["fs", "process", "path", "Go"];

async function goRuntime() {
  const before = standIns.filter((name) => name in globalThis);
  await import("./wasm_exec.js");
  made ??= { Go: globalThis.Go, names: standIns.filter((name) => !before.includes(name)), values: {} };
  for (const name of made.names) made.values[name] ??= globalThis[name];
  return made.Go;
}
let made;

function begin(go, instance) {
  const door = `__utp_parse_${++engines}`;
  let calls;
  globalThis[door] = (functions) => { calls = functions; };
  const given = made.names.filter((name) => !(name in globalThis));
  for (const name of given) globalThis[name] = made.values[name];
  go.argv = ["parse", door];
  go.run(instance); // it ends with the program
  delete globalThis[door];
  for (const name of made.names) delete globalThis[name];
  return new Engine(calls, instance.exports.mem);
}

// An answer is a number, nothing, JSON, or the words of an error behind "!".
function answer(said) {
  if (typeof said !== "string") return said;
  if (said[0] === "!") throw new ParseError(said.slice(1));
  return JSON.parse(said);
}

const kept = 64; // sets of options that the engine keeps ready

class Engine {
  #calls;
  #hints = new Map();
  #lost;
  #memory;

  constructor(calls, memory) {
    this.#calls = calls;
    this.#memory = memory;
    this.#lost = new FinalizationRegistry((n) => calls.free(n));
  }

  // ready is the number under which the engine knows these options.
  #ready({ tools, dialect, model, prefill, policy, cut } = {}) {
    const key = JSON.stringify({ tools, grammar: dialect, model, prefill, policy, cut });
    let n = this.#hints.get(key);
    if (n !== undefined) return n;
    n = answer(this.#calls.hints(key));
    if (this.#hints.size >= kept) {
      const [oldest, number] = this.#hints.entries().next().value;
      this.#hints.delete(oldest);
      this.#calls.forget(number);
    }
    this.#hints.set(key, n);
    return n;
  }

  /** The bytes that the engine holds. */
  get memory() {
    return this.#memory.buffer.byteLength;
  }

  /** Finds the calls in a text. */
  parse(text, options) {
    return answer(this.#calls.parse(this.#ready(options), text));
  }

  /** Begins a text that comes in pieces. */
  stream(options) {
    const n = answer(this.#calls.open(this.#ready(options)));
    const s = new Stream(this.#calls, n, () => this.#lost.unregister(s));
    this.#lost.register(s, n, s);
    return s;
  }

  /** Writes tools, and with them calls and results, as the text of a dialect: of an
   * engine that was loaded from full.wasm. */
  render(ask) {
    if (!this.#calls.render) throw new ParseError("this engine only reads: load full.wasm, as @unifiedtoolprotocol/parse/full does");
    return answer(this.#calls.render(JSON.stringify(ask)));
  }
}

class Stream {
  #calls;
  #n;
  #over;
  #half = ""; // of a character whose other half is in the next piece

  constructor(calls, n, over) {
    this.#calls = calls;
    this.#n = n;
    this.#over = over;
  }

  /** Reads a piece, and gives what follows from it: text, calls, problems. */
  feed(piece) {
    piece = this.#half + piece;
    this.#half = "";
    if (/[\uD800-\uDBFF]$/.test(piece)) {
      this.#half = piece.slice(-1);
      piece = piece.slice(0, -1);
    }
    if (piece === "") return [];
    return answer(this.#calls.feed(this.#n, piece)) ?? [];
  }

  /** Ends the text: what was found in all of it. `cut` says that it was cut off. */
  close(cut = false) {
    const rest = this.#half;
    this.#half = "";
    const before = rest ? answer(this.#calls.feed(this.#n, rest)) ?? [] : [];
    const reply = answer(this.#calls.close(this.#n, cut));
    this.#over();
    reply.events = [...before, ...(reply.events ?? [])];
    return reply;
  }

  /** Forgets a text that is not read to its end. */
  free() {
    this.#calls.free(this.#n);
    this.#over();
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.free();
  }
}
