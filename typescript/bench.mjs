// Size, start and speed, the native engine beside it: node typescript/bench.mjs
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

for (const file of ["parse.wasm", "full.wasm"]) {
  const b = readFileSync(here(`dist/${file}`));
  const packed = brotliCompressSync(b, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
  console.log(`${file}: ${b.length} bytes, brotli ${packed.length}`);
}

const first = `
  const t = performance.now();
  const { parse } = await import(${JSON.stringify(here("dist/index.js"))});
  const made = performance.now();
  parse('I look. <tool_call>{"name": "now", "arguments": {"zone": "UTC"}}</tool_call>',
    { tools: [{ name: "now", parameters: { type: "object", properties: { zone: { type: "string" } } } }] });
  const end = performance.now(), { user, system } = process.cpuUsage();
  console.log(JSON.stringify([end - t, made - t, (user + system) / 1000]));`;
const starts = Array.from({ length: 15 }, () => JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", first], { encoding: "utf8" })));
console.log(`import to first answer: ${median(starts.map((s) => s[0])).toFixed(0)} ms (best ${Math.min(...starts.map((s) => s[0])).toFixed(0)}), of it import ${median(starts.map((s) => s[1])).toFixed(0)} ms; ${median(starts.map((s) => s[2])).toFixed(0)} ms of processors, node's own start among them`);

const { parse, stream } = await import("./dist/index.js");
const sentence = "The forecast for the week says that it will rain on most days, with some sun on Thursday. ";
const texts = {
  prose: sentence.repeat(Math.floor((1 << 20) / sentence.length)),
  reply: sentence.repeat(10) + `<tool_call>{"name": "now", "arguments": {"n": "2", "note": "${"x".repeat(60)}"}}</tool_call>`,
};
const options = { tools: [{ name: "now", parameters: { type: "object", properties: { n: { type: "integer" } } } }] };
const native = execFileSync("go", ["test", "./cmd/bx/internal/reading", "-run", "^$", "-bench", "Desk"], { cwd: here(".."), encoding: "utf8" });
for (const [name, text] of Object.entries(texts)) {
  const end = performance.now() + 2000;
  const took = [];
  do {
    const t = performance.now();
    parse(text, options);
    took.push(performance.now() - t);
  } while (performance.now() < end);
  const ns = Number(new RegExp(`Desk/${name}\\S*\\s+\\d+\\s+([\\d.]+) ns/op`).exec(native)[1]);
  const ms = took.reduce((a, b) => a + b) / took.length;
  console.log(`${name} of ${text.length} bytes: ${ms.toFixed(3)} ms, median ${median(took).toFixed(3)}; native ${(ns / 1e6).toFixed(3)} ms: ${(ns / 1e6 / ms).toFixed(2)} of its speed (by medians ${(ns / 1e6 / median(took)).toFixed(2)})`);
}

let feeds = 0, spent = 0;
for (const end = performance.now() + 2000; performance.now() < end;) {
  const s = stream(options);
  const t = performance.now();
  for (let i = 0; i < texts.reply.length; i += 4, feeds++) s.feed(texts.reply.slice(i, i + 4));
  s.close();
  spent += performance.now() - t;
}
console.log(`a feed of 4 characters: ${(spent / feeds * 1000).toFixed(1)} µs`);
