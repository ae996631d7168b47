// Lets the Go tests of this folder have conversations through npm SDKs: a line
// of JSON in is an order, a line out is what came of it. See npm_test.go.
import { createInterface } from 'node:readline';
import * as anthropic from './anthropic.mjs';
import * as gemini from './gemini.mjs';
import * as ollama from './ollama.mjs';
import * as openai from './openai.mjs';
import * as vercel from './vercel.mjs';

// Each has begin(url, request), models(url) where the SDK can list them, embed(url,
// model, texts) where it can, loop(url, request, stream, run) where it runs tools by
// itself and gives the last text, and fault(error), which is null for an error that
// is not the SDK's own.
const sdks = {
  openai: openai.chat, responses: openai.responses, anthropic, gemini, ollama,
  'ai-openai': vercel.chat, 'ai-responses': vercel.responses, 'ai-anthropic': vercel.anthropic, 'ai-gemini': vercel.gemini,
};
const sessions = new Map();

const orders = {
  begin: (sdk, o) => { sessions.set(o.session, sdk.begin(o.url, o.request)); },
  ask: (_, o) => sessions.get(o.session).ask(o.stream),
  give: (_, o) => sessions.get(o.session).give(o.texts),
  models: (sdk, o) => sdk.models(o.url),
  embed: (sdk, o) => sdk.embed(o.url, o.model, o.texts),
  loop: async (sdk, o) => {
    const ran = [];
    const run = (name, args) => { ran.push({ name, args }); return `ran ${name}`; };
    return { text: await sdk.loop(o.url, o.request, o.stream ?? false, run), ran };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const o = JSON.parse(line);
  const sdk = sdks[o.sdk];
  let out;
  try {
    out = { result: (await orders[o.order](sdk, o)) ?? null };
  } catch (e) {
    out = { error: { text: String(e.stack ?? e), fault: sdk.fault(e) } };
  }
  process.stdout.write(JSON.stringify(out) + '\n');
}
process.exit(0); // whatever connections are still open
