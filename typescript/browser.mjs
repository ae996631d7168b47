// The package in a real Chromium: a page that imports it, reads a text whole and in pieces,
// and a worker that does. node typescript/browser.mjs
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
const work = `
  const t = performance.now();
  const { parse, stream } = await import("/dist/index.js");
  const text = 'I look. <tool_call>{"name": "now", "arguments": {"zone": "UTC",}}</tool_call>';
  const reply = parse(text), first = performance.now() - t;
  const s = stream();
  for (const c of text) s.feed(c);
  const { events, ...cut } = s.close();
  const done = { first, reply, same: JSON.stringify(cut) === JSON.stringify(reply), left: ["Go", "fs", "process"].filter((n) => n in globalThis) };`;
const server = createServer((q, r) => {
  const path = new URL(q.url, "http://x").pathname;
  r.setHeader("Content-Type", types[path.split(".").at(-1)] ?? "text/html");
  if (path === "/worker.js") return r.end(`${work}\npostMessage(done);`);
  if (path.startsWith("/dist/") && !path.includes("..")) return r.end(readFileSync(new URL(`.${path}`, import.meta.url)));
  r.end(`<!doctype html><script type="module">${work}
    window.page = done;
    new Worker("/worker.js", { type: "module" }).onmessage = (e) => { window.worker = e.data; };</script>`);
}).listen(0, "127.0.0.1");
await new Promise((go) => server.once("listening", go));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.on("pageerror", (e) => console.error(e));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => window.page && window.worker, null, { timeout: 120000 });
  for (const where of ["page", "worker"]) {
    const got = await page.evaluate((w) => window[w], where);
    const call = got.reply.tool_calls[0];
    const good = got.same && call?.name === "now" && call.arguments.zone === "UTC" && got.left.length === 0;
    console.log(`Chromium ${browser.version()}, ${where}: ${good ? "good" : JSON.stringify(got)}, import to first answer ${got.first.toFixed(0)} ms`);
    if (!good) process.exitCode = 1;
  }
} finally {
  await browser.close();
  server.close();
}
