// The package in Deno and in workerd, which runs Cloudflare's workers: a text read whole, in
// pieces, and given up. They are fetched from npm (250 MB): node typescript/runtimes.mjs
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const dir = join(here, "node_modules", ".runtimes");
const wanted = {
  call: { zone: "UTC", n: 2 }, status: "repaired", content: "I look 👋🏽.\n", same: true, calls: 1, first: "text", freed: "ParseError",
};

mkdirSync(dir, { recursive: true });
writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, dependencies: { deno: "2.9.6", workerd: "1.20261117.1" } }));
execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: dir, stdio: "inherit" });
const program = (name) => join(dir, "node_modules", ".bin", name);

// Deno imports the package as it is, and reads the WebAssembly beside it.
writeFileSync(join(dir, "deno.mjs"), `
  import * as engine from "../../dist/index.js";
  import { use } from "../../test/runtime.js";
  console.log(JSON.stringify(use(engine)));`);
const said = execFileSync(program("deno"), ["run", "--no-config", `--allow-read=${here}`, join(dir, "deno.mjs")], { encoding: "utf8" });
assert.deepEqual(JSON.parse(said), wanted);
console.log(`${execFileSync(program("deno"), ["--version"], { encoding: "utf8" }).split("\n")[0]}: as it should be`);

// A worker has the WebAssembly as a module, loads it before its first request, and has
// neither a file system nor random numbers then.
writeFileSync(join(dir, "worker.js"), `
  import { load } from "engine.js";
  import { use } from "runtime.js";
  import wasm from "parse.wasm";
  const engine = await load(wasm);
  export default {
    fetch() {
      return Response.json(use({ parse: (t, o) => engine.parse(t, o), stream: (o) => engine.stream(o) }));
    },
  };`);
const port = await new Promise((go) => {
  const s = createServer().listen(0, "127.0.0.1", () => {
    const { port } = s.address();
    s.close(() => go(port));
  });
});
for (const [from, to] of [["dist/engine.js", "engine.js"], ["dist/parse.wasm", "parse.wasm"], ["test/runtime.js", "runtime.js"]]) {
  writeFileSync(join(dir, to), readFileSync(join(here, from)));
}
writeFileSync(join(dir, "worker.capnp"), `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [
      (name = "worker.js", esModule = embed "worker.js"), (name = "engine.js", esModule = embed "engine.js"),
      (name = "runtime.js", esModule = embed "runtime.js"), (name = "parse.wasm", wasm = embed "parse.wasm"),
    ],
    compatibilityDate = "2026-11-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`);
const worker = spawn(program("workerd"), ["serve", join(dir, "worker.capnp")], { stdio: ["ignore", "inherit", "inherit"] });
try {
  let answer;
  for (const end = Date.now() + 30000; !answer;) {
    answer = await fetch(`http://127.0.0.1:${port}/`).catch((e) => {
      if (Date.now() > end || worker.exitCode !== null) throw e;
      return new Promise((go) => setTimeout(go, 100));
    });
  }
  const body = await answer.text();
  assert.equal(answer.status, 200, body);
  assert.deepEqual(JSON.parse(body), wanted);
  console.log(`${execFileSync(program("workerd"), ["--version"], { encoding: "utf8" }).trim()}: as it should be`);
} finally {
  worker.kill();
}
