// The examples of docs/typescript.md as a program has them that installed the package:
// tsc takes them, they run, and what stands behind a value is its value.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const page = readFileSync(here("../../docs/typescript.md"), "utf8");
const examples = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code);

// given is what the page leaves to the reader.
const given = {
  tools: 'const tools: any = [{ name: "now", parameters: { type: "object", properties: { zone: { type: "string" } } } }];',
  pieces: `const pieces = ["I look. <tool_", 'call>{"name": "now", "arguments": {}}</tool_call>'], said: unknown[] = [], show = (t: string) => said.push(t), run = (c: { name: string }) => said.push(c.name);`,
  provider: `import { MockLanguageModelV3 } from "ai/test";
    const tools: any = {}, provider = (_: string): any => new MockLanguageModelV3();`,
};

test("the page's examples are right", () => {
  const dir = mkdtempSync(join(tmpdir(), "docs-"));
  mkdirSync(join(dir, "node_modules", "@unifiedtoolprotocol"), { recursive: true });
  symlinkSync(here(".."), join(dir, "node_modules", "@unifiedtoolprotocol", "parse"));
  symlinkSync(here("../node_modules/ai6"), join(dir, "node_modules", "ai"));
  writeFileSync(join(dir, "package.json"), '{"type": "module"}');
  const files = examples.map((code, i) => {
    const before = Object.entries(given).filter(([name]) => new RegExp(`\\b${name}\\b`).test(code) && !code.includes(`const ${name} =`)
      && !(name === "tools" && code.includes("provider"))).map(([, text]) => text);
    const checked = code.replace(/^([\w.[\]]+);\s+\/\/ (.+)$/gm, "equal($1, $2);");
    const file = join(dir, `example${i}.ts`);
    writeFileSync(file, `declare function equal(have: unknown, want: unknown): void;\n${before.join("\n")}\n${checked}\nexport {};\n`);
    return file;
  });
  const tsc = spawnSync(process.execPath, [here("../node_modules/typescript/bin/tsc"), "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--outDir", join(dir, "out"), ...files], { encoding: "utf8" });
  assert.equal(tsc.stdout, "");
  let values = 0;
  for (const [i, code] of examples.entries()) {
    if (code.includes("parse.wasm")) continue; // a bundler's
    const file = join(dir, "out", `example${i}.js`), source = readFileSync(file, "utf8");
    values += source.match(/^equal\(/gm)?.length ?? 0;
    writeFileSync(file, `import { deepEqual as equal } from "node:assert/strict";\n${source}`);
    const run = spawnSync(process.execPath, [file], { encoding: "utf8", cwd: dir });
    assert.equal(run.status, 0, `${code}\n${run.stderr}`);
  }
  assert.equal(examples.length, 5);
  assert.equal(values, 5);
});
