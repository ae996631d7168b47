// Size, start and speed, the native engine beside it: node typescript/bench.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

console.log(`load of the machine: ${loadavg()[0].toFixed(1)}`);
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
const prose = sentence.repeat(Math.floor((1 << 20) / sentence.length));
const call = `<tool_call>{"name": "now", "arguments": {"n": "2", "note": "${"x".repeat(60)}"}}</tool_call>`;
const texts = { prose, long: prose + call, reply: sentence.repeat(10) + call };
const options = { tools: [{ name: "now", parameters: { type: "object", properties: { n: { type: "integer" } } } }] };

// Both engines in turns, so that what else the machine does slows both: rounds of half a
// second, of each the median by the clock and the mean of processor time, and of the
// rounds the median.
const rounds = 9, round = 500;
const dir = mkdtempSync(join(tmpdir(), "bench-"));
process.on("exit", () => rmSync(dir, { recursive: true }));
const native = join(dir, "reading.test");
execFileSync("go", ["test", "-c", "-o", native, "./cmd/bx/internal/reading"], { cwd: here("..") });
function natively(name) {
  const said = execFileSync(native, ["-test.run", "^$", "-test.bench", `Desk/${name}`, "-test.benchtime", `${round}ms`], { encoding: "utf8" });
  const ms = (unit) => Number(new RegExp(`([\\d.]+) ${unit}`).exec(said)[1]) / 1e6;
  return { clock: ms("median-ns"), processor: ms("cpu-ns") };
}
// inJavaScript is a round of work, which returns how many it did.
function inJavaScript(work) {
  const took = [], before = process.cpuUsage();
  let n = 0;
  for (const end = performance.now() + round; performance.now() < end;) {
    const t = performance.now();
    const did = work();
    took.push((performance.now() - t) / did);
    n += did;
  }
  const { user, system } = process.cpuUsage(before);
  return { clock: median(took), processor: (user + system) / 1000 / n };
}
const of = (list, what) => median(list.map((one) => one[what]));
const ms = (list) => `${of(list, "processor").toFixed(3)} ms of processor, ${of(list, "clock").toFixed(3)} by the clock`;

for (const [name, text] of Object.entries(texts)) {
  const work = () => { parse(text, options); return 1; };
  for (let i = 0; i < 4; i++) inJavaScript(work); // until V8 has compiled what it compiles
  const ours = [], theirs = [];
  for (let i = 0; i < rounds; i++) {
    ours.push(inJavaScript(work));
    theirs.push(natively(name));
  }
  const ratio = (what) => median(ours.map((one, i) => theirs[i][what] / one[what])).toFixed(2);
  console.log(`${name} of ${text.length} bytes: ${ms(ours)} (best round ${Math.min(...ours.map((o) => o.clock)).toFixed(3)}); native ${ms(theirs)}: ${ratio("processor")} of its speed, ${ratio("clock")} by the clock`);
}

const feeds = () => {
  const s = stream(options);
  let n = 0;
  for (let i = 0; i < texts.reply.length; i += 4, n++) s.feed(texts.reply.slice(i, i + 4));
  s.close();
  return n;
};
inJavaScript(feeds);
const fed = Array.from({ length: rounds }, () => inJavaScript(feeds));
console.log(`a feed of 4 characters: ${(of(fed, "processor") * 1000).toFixed(1)} µs of processor, ${(of(fed, "clock") * 1000).toFixed(1)} by the clock`);
