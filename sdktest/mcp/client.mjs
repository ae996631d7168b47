// A client made of MCP's TypeScript SDK: what bx mcp serve offers, over both
// transports, with a user who says yes, one who says no, and without one.
//
//   node client.mjs SDK BX ROOT URL KEY
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [sdk, bx, root, url, key] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(sdk, "dist/esm", path)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { ElicitRequestSchema } = await load("types.js");

const transports = {
  stdio: () => new StdioClientTransport({ command: bx, args: ["mcp", "serve", "--root", root, "--tier", "run", "--allow", "shell"], env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }),
};

async function connect(transport, answer) {
  const client = new Client({ name: "test", version: "1" }, { capabilities: answer ? { elicitation: {} } : {} });
  const asked = [];
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, async (r) => {
      asked.push(r.params.message);
      return answer;
    });
  }
  await client.connect(transports[transport]());
  return { client, asked };
}

const text = (r) => r.content.map((c) => c.text ?? "").join("");

for (const transport of Object.keys(transports)) {
  const { client } = await connect(transport);
  const names = (await client.listTools()).tools.map((t) => t.name);
  assert(names.includes("search_code") && names.includes("write_file"), `tools: ${names}`);
  assert.match(text(await client.callTool({ name: "read_file", arguments: { path: "hello.txt" } })), /hello from the file/);
  const wrong = await client.callTool({ name: "read_file", arguments: { path: "nope.txt" } });
  assert(wrong.isError && /File not found/.test(text(wrong)), text(wrong));
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /does not exist/);
  const { resources } = await client.listResources();
  assert(resources.some((r) => r.uri.endsWith("/AGENTS.md")), JSON.stringify(resources));
  assert.equal((await client.readResource({ uri: resources[0].uri })).contents[0].text, "Keep it short.\n");
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
  assert((await client.listPrompts()).prompts.some((p) => p.name === "ask"));
  assert.match((await client.getPrompt({ name: "guide" })).messages[0].content.text, /Keep it short/);
  const mute = await client.callTool({ name: "write_file", arguments: { path: "new.txt", content: "x" } });
  assert(mute.isError && /cannot ask/.test(text(mute)) && !existsSync(join(root, "new.txt")), text(mute));
  await client.close();

  const no = await connect(transport, { action: "decline" });
  const refused = await no.client.callTool({ name: "write_file", arguments: { path: "new.txt", content: "x" } });
  assert(refused.isError && no.asked.length === 1 && !existsSync(join(root, "new.txt")), text(refused));
  await no.client.close();

  const yes = await connect(transport, { action: "accept", content: { run: true } });
  const done = await yes.client.callTool({ name: "write_file", arguments: { path: "new.txt", content: "hi" } });
  assert(!done.isError && readFileSync(join(root, "new.txt"), "utf8") === "hi", text(done));
  rmSync(join(root, "new.txt"));
  const stop = new AbortController();
  const beats = join(root, "beats");
  const running = yes.client.callTool({ name: "shell", arguments: { command: "while :; do echo x >> beats; sleep 0.02; done" } }, undefined, { signal: stop.signal });
  while (!existsSync(beats)) await new Promise((r) => setTimeout(r, 10));
  stop.abort();
  await assert.rejects(running);
  await new Promise((r) => setTimeout(r, 1000));
  const size = readFileSync(beats).length;
  await new Promise((r) => setTimeout(r, 200));
  assert.equal(readFileSync(beats).length, size, "a command runs on a second after it was cancelled");
  rmSync(beats);
  await yes.client.close();
  console.log(`  ${transport}: ok`);
}
