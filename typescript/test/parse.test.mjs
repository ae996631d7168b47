import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { parse, ParseError, stream } from "../dist/index.js";
import { load } from "../dist/engine.js";
import * as full from "../dist/full.js";
import { arguing, bxParse, cases } from "./cases.mjs";

const tools = [{ name: "now", parameters: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] } }];
const text = 'I look.\n<tool_call>{"name": "now", "arguments": {"zone": "UTC",}}</tool_call>';

// pieces are a text, fed as given: its reply, and what the events said.
function pieces(parts, options) {
  const s = stream(options);
  const events = parts.flatMap((p) => s.feed(p));
  const { events: last = [], ...reply } = s.close();
  return { reply, events: [...events, ...last] };
}

// A small generator, so that every run cuts at the same places.
function random(seed) {
  return () => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff);
}

const all = cases();
const said = bxParse(all);
const argued = arguing();
const judged = bxParse(argued);

test("every case is read as bx parse reads it", () => {
  assert.ok(all.length > 900, `${all.length} cases`);
  all.forEach((c, i) => assert.deepEqual(parse(c.input, c.options), said[i], c.name));
});

test("arguments are judged as bx parse judges them", () => {
  assert.deepEqual(new Set(judged.map((r) => r.tool_calls[0].status)), new Set(["ok", "repaired", "invalid"]));
  argued.forEach((c, i) => assert.deepEqual(parse(c.input, c.options), judged[i], c.name));
});

test("every case is the same reply however it is cut", () => {
  const next = random(1);
  all.forEach((c, i) => {
    const ways = [[0, 1, 2].map(() => Math.floor(next() * (c.input.length + 1)))];
    if (i % 5 === 0) ways.push(Array.from({ length: c.input.length }, (_, k) => k));
    for (const cuts of ways) {
      cuts.sort((a, b) => a - b);
      const parts = [...cuts, c.input.length].map((to, k) => c.input.slice(k ? cuts[k - 1] : 0, to));
      const { reply, events } = pieces(parts, c.options);
      assert.deepEqual(reply, said[i], `${c.name} at ${cuts}`);
      const calls = events.filter((e) => e.kind === "call").map((e) => e.tool_call);
      assert.deepEqual(calls, reply.tool_calls, `${c.name}: the calls of the events`);
    }
  });
});

test("text arrives before the call behind it, and long arguments while they are written", () => {
  const s = stream({ tools });
  const long = text.replace("UTC", "UTC ".repeat(300));
  const at = {}; // the first time that each kind came
  [...long].forEach((c, i) => s.feed(c).forEach((e) => { at[e.kind] ??= i; }));
  assert.ok(at.text < 5, `text at ${at.text}`);
  assert.ok(at["call-start"] < 700 && at["call-delta"] < 700, JSON.stringify(at)); // short calls come whole
  assert.equal(s.close().tool_calls[0].status, "repaired");
});

test("a character that is cut in two is one", () => {
  const emoji = "Hi 👋🏽!";
  const { reply } = pieces([...Array(emoji.length).keys()].map((i) => emoji[i]));
  assert.equal(reply.content, emoji);
  assert.equal(pieces(["a\uD83D"]).reply.content, "a\uFFFD");
  assert.equal(parse("\uFEFF\uFEFFa\uD83Db").content, "\uFEFFa\uFFFDb");
});

test("a text that is all content is it whole, but for halves of characters", () => {
  const read = (text) => parse(text).content;
  const streamed = (text) => {
    const s = stream();
    s.feed(text);
    return s.close().content;
  };
  for (const of of [read, streamed]) {
    for (const text of ["", "Hello.", "Blåbær 🍇", "\0", "a\ufffdb"]) assert.equal(of(text), text);
    for (const [text, want] of [["a\ud83cb", "a\ufffdb"], ["\udf47", "\ufffd"]]) assert.equal(of(text), want);
  }
  const call = '<tool_call>{"name": "now", "arguments": {}}</tool_call>';
  assert.equal(read(`It is ${call}`), "It is ");
  assert.equal(read("It is"), "It is");
});

test("what cannot be read is said", () => {
  assert.throws(() => parse("x", { dialect: "nowhere" }), (e) => e instanceof ParseError && /nowhere/.test(e.message));
  for (const say of [(dialect) => parse("x", { dialect }), (dialect) => full.render({ tools, dialect })]) {
    assert.throws(() => say("hermess"), /^ParseError: no dialect is called "hermess": did you mean hermes\? docs\/grammars\.md lists them$/);
    assert.throws(() => say("./mine.json"), /dialect: want a name, have the file/);
  }
  assert.equal(parse("x", null).content, "x");
  for (const no of [undefined, null, "x"]) assert.throws(() => full.render(no), ParseError);
  assert.throws(() => full.render({ tools, choice: { mode: "named", name: "then" } }), /^ParseError: tool choice names "then"/);
  assert.throws(() => full.render({ tools, messages: [{ role: "robot", parts: [] }] }), /messages\[0\]: the role: want system/);
  assert.throws(() => full.render({ tools, messages: [{ role: "user", parts: [{ type: "image" }] }] }), /^ParseError: message: parts\[0\]: unknown type "image"/);
  assert.throws(() => parse("x", { tools: [{}] }), /tools\[0\]/);
  assert.throws(() => parse("x", { policy: "repair=maybe" }), /repair/);
  assert.throws(() => parse("x", { grammar: "hermes" }), (e) => e instanceof ParseError && /no option grammar/.test(e.message));
  const s = stream();
  for (const no of [undefined, null, 3, {}]) {
    assert.throws(() => parse(no), (e) => e instanceof ParseError && /want a text/.test(e.message));
    assert.throws(() => s.feed(no), ParseError);
  }
  assert.equal(s.close().content, "");
  assert.equal(parse("x").content, "x");
});

// Of a literal tsc also says which fields no type names. The types need no DOM.
test("replies and events are what their types say", () => {
  const dir = mkdtempSync(join(tmpdir(), "types-"));
  const lines = [`import type { Event, Reply } from ${JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))};`];
  all.forEach((c, i) => {
    const { reply, events } = pieces(c.input.match(/[^]{1,9}/gu) ?? [], c.options);
    lines.push(`export const reply${i}: Reply = ${JSON.stringify(reply)};`);
    events.forEach((e, k) => lines.push(`export const event${i}_${k}: Event = ${JSON.stringify(e)};`));
  });
  writeFileSync(join(dir, "said.ts"), lines.join("\n"));
  const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const run = spawnSync(process.execPath, [tsc, "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--lib", "es2022", "--module", "nodenext", join(dir, "said.ts")], { encoding: "utf8" });
  assert.equal(run.stdout, "");
  assert.equal(run.status, 0);
});

test("an address may be a relative one, as bundlers give it", async (t) => {
  assert.equal((await load("./parse.wasm")).parse("x").content, "x");
  assert.equal((await load(Promise.resolve(readFileSync(new URL("../dist/parse.wasm", import.meta.url))))).parse("x").content, "x");
  globalThis.location = new URL("https://example.com/app/");
  t.after(() => delete globalThis.location);
  const asked = t.mock.method(globalThis, "fetch", async () => new Response("", { status: 404 }));
  await assert.rejects(load("/assets/parse.wasm"), /HTTP 404/);
  assert.equal(String(asked.mock.calls[0].arguments[0]), "https://example.com/assets/parse.wasm");
});

test("the README is docs/typescript.md", () => {
  const [readme, page] = ["../README.md", "../../docs/typescript.md"].map((p) => readFileSync(new URL(p, import.meta.url), "utf8"));
  assert.equal(readme.replaceAll("https://github.com/unifiedtoolprotocol/utp/blob/main/docs/", ""), page);
});

// A bundler for browsers follows what an import names.
test("no module of Node is named in an import", () => {
  for (const file of ["ai-sdk.js", "engine.js", "full.js", "index.js"]) {
    assert.doesNotMatch(readFileSync(new URL(`../dist/${file}`, import.meta.url), "utf8"), /(from|import\()[^;]*["']node:/, file);
  }
});

test("a module may be another realm's, as in Next.js's edge runtime", async () => {
  const theirs = await runInNewContext("WebAssembly").compile(readFileSync(new URL("../dist/parse.wasm", import.meta.url)));
  assert.ok(!(theirs instanceof WebAssembly.Module));
  assert.equal((await load(theirs)).parse("x").content, "x");
});

test("what is no WebAssembly is said, with what to do", async (t) => {
  t.mock.method(globalThis, "fetch", async () => new Response("<!doctype html>", { headers: { "Content-Type": "text/html" } }));
  await assert.rejects(load("https://example.com/parse.wasm"), /have a page, want WebAssembly.*load\(address\)/);
});

test("a stream that is over says so", () => {
  const s = stream();
  s.feed("x");
  assert.equal(s.close().content, "x");
  assert.throws(() => s.feed("y"), ParseError);
  const t = stream();
  t.free();
  assert.throws(() => t.close(), ParseError);
});

test("many sets of options, and none mixed up", () => {
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 200; i++) {
      const r = parse(`<tool_call>{"name": "t${i}", "arguments": {"n": "${i}"}}</tool_call>`,
        { tools: [{ name: `t${i}`, parameters: { type: "object", properties: { n: { type: i % 2 ? "integer" : "string" } } } }] });
      assert.deepEqual(r.tool_calls[0].arguments, { n: i % 2 ? i : String(i) });
    }
  }
});

test("10,000 streams grow the memory by 5 MB at most", async () => {
  const engine = await load();
  const one = () => {
    const s = engine.stream({ tools });
    for (let i = 0; i < text.length; i += 20) s.feed(text.slice(i, i + 20));
    return s;
  };
  for (let i = 0; i < 1000; i++) one().close();
  const before = engine.memory;
  for (let i = 0; i < 10000; i++) {
    const s = one();
    if (i % 2) s.close();
    else s.free();
  }
  assert.ok(engine.memory - before <= 5 << 20, `${engine.memory - before} bytes`);
});

test("streams by the five hundred, 10,000 in all, grow the memory by 5 MB at most", async () => {
  const engine = await load();
  const some = () => {
    const open = Array.from({ length: 500 }, () => engine.stream({ tools }));
    for (const s of open) s.feed(text.slice(0, 60));
    open.forEach((s, i) => i % 2 ? s.close() : s.free());
  };
  some();
  some();
  const before = engine.memory;
  for (let i = 0; i < 20; i++) some();
  assert.ok(engine.memory - before <= 5 << 20, `${engine.memory - before} bytes`);
});

test("engines of one program do not touch, and leave nothing on the global object", async () => {
  const before = Object.keys(globalThis).sort();
  const [a, b] = await Promise.all([load(), load()]);
  assert.deepEqual(Object.keys(globalThis).sort(), before);
  const s = a.stream();
  s.feed("from a");
  assert.throws(() => b.render({ tools }), /full\.wasm/);
  assert.equal(s.close().content, "from a");
  assert.equal("Go" in globalThis, false);
});

// drawing lists how many random bytes are asked for from now on; answer gives them.
function drawing(t, answer) {
  const draws = [];
  const real = crypto.getRandomValues.bind(crypto);
  t.mock.method(crypto, "getRandomValues", (a) => {
    draws.push(a.length);
    return answer(a, real);
  });
  return draws;
}

test("every engine draws its own random numbers, when it is first called", async (t) => {
  const draws = drawing(t, (a, real) => real(a));
  const [a, b] = [await load(), await load()];
  assert.deepEqual(draws, []);
  for (const engine of [a, b]) {
    draws.length = 0;
    engine.parse("x");
    assert.ok(draws.includes(32), `it drew ${draws}`);
    draws.length = 0;
    engine.parse("y");
    assert.deepEqual(draws, []);
  }
});

// awake is the memory of an engine that drew these random bytes before its first text.
async function awake(drawn) {
  const module = await WebAssembly.compile(readFileSync(new URL("../dist/parse.wasm", import.meta.url)));
  const wasi = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, () => 0]));
  wasi.random_get = (at, size) => {
    bytes().fill(drawn, at, at + size);
    return 0;
  };
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi });
  const bytes = () => new Uint8Array(exports.memory.buffer);
  exports.wake();
  return bytes();
}

test("no random state of an engine is that of another", async () => {
  const [one, same, other] = [await awake(1), await awake(1), await awake(2)];
  assert.deepEqual(one, same);
  const runs = []; // of bytes that differ: from, to
  one.forEach((b, i) => {
    if (b === other[i]) return;
    if (runs.length && i - runs.at(-1)[1] < 64) runs.at(-1)[1] = i;
    else runs.push([i, i]);
  });
  const generators = runs.filter(([from, to]) => to - from > 250); // of 32 numbers of 8 bytes, and their seed
  assert.equal(generators.length, 2, `want the program's and the thread's: ${JSON.stringify(runs)}`);
});

test("an engine that broke off says why, and the others go on", async (t) => {
  const [a, b] = [await load(), await load()];
  const draws = drawing(t, (v, real) => {
    if (v.length > 1) throw new Error("no numbers today");
    return real(v);
  });
  assert.throws(() => a.parse("x"), /no numbers today/);
  assert.ok(draws.length > 1);
  t.mock.restoreAll();
  assert.throws(() => a.stream(), /no numbers today/);
  assert.equal(b.parse("x").content, "x");
});

// collect collects the garbage, and lets what hears of it run.
async function collect() {
  setFlagsFromString("--expose_gc");
  runInNewContext("gc")();
  await new Promise((go) => setTimeout(go, 20));
}

test("streams that nobody closes are given back when they are collected", async (t) => {
  const real = WebAssembly.instantiate;
  let given = 0;
  t.mock.method(WebAssembly, "instantiate", async (...of) => {
    const { exports } = await real(...of);
    return { exports: { ...exports, free: (n) => { given++; exports.free(n); } } };
  });
  const engine = await load();
  for (let i = 0; i < 500; i++) engine.stream({ tools }).feed(text.slice(0, 60));
  for (let i = 0; given < 500 && i < 100; i++) await collect();
  assert.equal(given, 500);
});

test("thousands of streams in turns, and none mixed up", () => {
  const open = Array.from({ length: 3000 }, (_, i) => [stream(), `${i}: <tool_call>{"name": "t", "arguments": {"i": ${i}}}</tool_call>`]);
  for (let at = 0; at < 60; at += 7) for (const [s, text] of open) s.feed(text.slice(at, at + 7));
  open.forEach(([s, text], i) => {
    s.feed(text.slice(63));
    const reply = s.close();
    assert.equal(reply.content, `${i}: `);
    assert.deepEqual(reply.tool_calls.map((c) => c.arguments), [{ i }]);
  });
});

test("an engine that ended says its last words, and its streams that are collected break nothing", async (t) => {
  const real = WebAssembly.instantiate;
  t.mock.method(WebAssembly, "instantiate", async (module, imports) => {
    const { exports } = await real(module, imports);
    const feed = () => {
      const words = "fatal error: out of memory\n", at = exports.room(64);
      new Uint8Array(exports.memory.buffer).set(new TextEncoder().encode(words), at);
      new Uint32Array(exports.memory.buffer).set([at, words.length], at / 4 + 8);
      imports.wasi_snapshot_preview1.fd_write(2, at + 32, 1, at + 40);
      throw new WebAssembly.RuntimeError("unreachable");
    };
    return { exports: { ...exports, feed } };
  });
  const engine = await load();
  engine.stream();
  assert.throws(() => engine.stream().feed("x"), (e) => /the engine ended: fatal error: out of memory$/.test(e.message) && e.cause.message === "unreachable");
  assert.throws(() => engine.parse("x"), /out of memory/);
  const thrown = [];
  const note = (e) => thrown.push(e);
  process.on("uncaughtException", note);
  await collect();
  process.off("uncaughtException", note);
  assert.deepEqual(thrown, []);
});

test("long texts are read, and do not stay", async () => {
  const engine = await load();
  for (const long of ["é€👋🏽 ".repeat(100000), "word ".repeat(200000)]) {
    const r = engine.parse(long + text, { tools });
    assert.equal(r.content, `${long}I look.\n`);
    assert.equal(r.tool_calls.length, 1);
  }
  const before = engine.memory;
  for (let i = 0; i < 20; i++) engine.parse("word ".repeat(200000));
  assert.ok(engine.memory - before <= 5 << 20, `${engine.memory - before} bytes`);
});

test("what is rendered is read again", () => {
  for (const dialect of ["hermes", "qwen3-coder", "mistral", "llama3", "pythonic", "glm"]) {
    const call = { type: "call", id: "c1", name: "now", arguments: { zone: "UTC" } };
    const r = full.render({
      dialect, tools,
      messages: [
        { role: "user", parts: [{ type: "text", text: "What time is it?" }] },
        { role: "assistant", parts: [call] },
        { role: "tool", parts: [{ type: "result", call_id: "c1", name: "now", status: "ok", parts: [{ type: "text", text: "12:00" }] }] },
      ],
    });
    assert.equal(r.messages[0].role, "system", dialect);
    assert.ok(r.messages[0].parts[0].text.includes("now") && r.text.includes("now"), dialect);
    assert.ok(r.messages.at(-1).parts[0].text.includes("12:00"), dialect);
    const read = parse(r.messages[2].parts.map((p) => p.text).join(""), { dialect, tools });
    assert.deepEqual(read.tool_calls.map((c) => [c.name, c.arguments]), [["now", { zone: "UTC" }]], dialect);
  }
  assert.throws(() => full.render({ tools, dialect: "nowhere" }), ParseError);
  assert.throws(() => full.render({ tools, messages: [{ role: "user", content: "Hi" }] }), (e) => e instanceof ParseError && /messages\[0\]: want/.test(e.message));
});
