// The cases of all grammars, and what bx parse says of them.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

function sections(file) {
  const found = {};
  let name;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const head = /^-- (.+) --$/.exec(line);
    if (head) found[(name = head[1])] = [];
    else if (name) found[name].push(line);
  }
  for (const [k, lines] of Object.entries(found)) {
    if (lines.at(-1) === "") lines.pop();
    found[k] = lines.join("\n");
  }
  return found;
}

function toolsOf(text) {
  if (text === undefined) return undefined;
  if (text.trim().startsWith("[")) return JSON.parse(text);
  return text.split(/\s+/).filter(Boolean).map((name) => ({ name, parameters: { type: "object" } }));
}

export function cases() {
  const out = [];
  const dir = join(root, "grammar", "testdata");
  for (const grammar of readdirSync(dir)) {
    for (const file of readdirSync(join(dir, grammar))) {
      if (!file.endsWith(".txtar")) continue;
      const s = sections(join(dir, grammar, file));
      if (s.in === undefined || s.in.includes("\uFFFD")) continue; // bytes that are no text
      out.push({
        name: `${grammar}/${file}`,
        input: s.in,
        options: {
          dialect: grammar === "auto" ? undefined : grammar, tools: toolsOf(s.tools), prefill: s.prefill,
          cut: s.cut === undefined ? undefined : true,
        },
      });
    }
  }
  return out;
}

/** Arguments that fit a tool and such that do not, by every keyword of a plain schema. */
export function arguing() {
  const properties = {
    kind: { type: "string", enum: ["a", "b"], description: "which" }, n: { type: "integer", default: 3 },
    list: { type: "array", items: { type: "number" } }, any: { anyOf: [{ type: "string" }, { type: "null" }] },
    sub: { type: "object", properties: { x: { type: "boolean" } }, required: ["x"], additionalProperties: false },
    fixed: { const: "k" }, more: { type: "object", additionalProperties: { type: "integer" } }, free: true,
  };
  const values = [
    {}, { kind: "c" }, { kind: 1 }, { kind: "a", n: "2" }, { kind: "a", n: "x" }, { kind: "b", n: 1.5 }, { kind: "a", list: ["1", 2, "z"] }, { kind: "a", list: 4 },
    { kind: "a", any: 5 }, { kind: "a", any: null }, { kind: "a", sub: {} }, { kind: "a", sub: { x: "true", y: 1 } }, { kind: "a", fixed: "z" }, { kind: "a", fixed: "k" },
    { kind: "a", more: { a: "1", b: "q" } }, { kind: "a", free: [{}] }, { kind: "a", stranger: 1 },
  ];
  return [{}, { additionalProperties: false }, { minProperties: 1 }].flatMap((rest, i) => values.map((args) => ({
    name: `${i}: ${JSON.stringify(args)}`,
    input: `<tool_call>${JSON.stringify({ name: "book", arguments: args })}</tool_call>`,
    options: { tools: [{ name: "book", parameters: { type: "object", title: "Book", properties, required: ["kind"], ...rest } }] },
  })));
}

/** The program bx: $BX, or built for this run. */
export function bx() {
  if (process.env.BX) return process.env.BX;
  const file = join(mkdtempSync(join(tmpdir(), "bx-")), "bx");
  execFileSync("go", ["build", "-o", file, "./cmd/bx"], { cwd: root, stdio: "inherit" });
  return file;
}

/** What bx parse says of texts, one object each. */
export function bxParse(list) {
  const lines = list.map(({ input, options: { dialect, ...rest } }, id) => JSON.stringify({ id, input, grammar: dialect, ...rest }));
  const run = spawnSync(bx(), ["parse", "--jsonl"], { input: lines.join("\n") + "\n", maxBuffer: 1 << 30, encoding: "utf8" });
  if (run.error) throw run.error;
  return run.stdout.trim().split("\n").map((l) => JSON.parse(l)).map(({ id, ...said }) => said);
}
