import { ApiError, GoogleGenAI } from '@google/genai';
import { answer, defined, noArguments, of, textOf } from './parts.mjs';

const connect = (url) => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } });

// fault reads the words out of the message, which is the error's JSON.
export function fault(e) {
  if (!(e instanceof ApiError)) return null;
  let body = {};
  try {
    body = JSON.parse(e.message).error ?? {};
  } catch {
    body = { message: e.message };
  }
  return { status: e.status, kind: body.status, message: body.message };
}

export async function models(url) {
  const ids = [];
  for await (const m of await connect(url).models.list()) ids.push(m.name.replace(/^models\//, ''));
  return ids;
}

export async function embed(url, model, texts) {
  const reply = await connect(url).models.embedContent({ model, contents: texts });
  return reply.embeddings.map((e) => e.values);
}

const spoken = (r) => (r.candidates?.[0].content?.parts ?? []).map((p) => p.text ?? '').join('');

export async function loop(url, r, stream, run) {
  const { client, params } = new Session(url, r);
  const callable = {
    tool: async () => params.config.tools[0],
    callTool: async (calls) => calls.map((c) => ({ functionResponse: defined({ id: c.id, name: c.name, response: { output: run(c.name, c.args) } }) })),
  };
  const request = { ...params, config: { ...params.config, tools: [callable] } };
  if (!stream) return spoken(await client.models.generateContent(request));
  let text = '';
  for await (const chunk of await client.models.generateContentStream(request)) text = chunk.functionCalls?.length ? '' : text + spoken(chunk);
  return text;
}

export const begin = (url, r) => new Session(url, r);

const modes = { required: 'ANY', none: 'NONE' };

class Session {
  constructor(url, r) {
    const p = r.params ?? {};
    const system = r.messages.filter((m) => m.role === 'system').map(textOf).join('\n');
    this.client = connect(url);
    this.params = {
      model: r.model,
      contents: [],
      config: defined({
        systemInstruction: system || undefined,
        tools: r.tools?.length ? [{ functionDeclarations: r.tools.map((t) => ({ name: t.name, description: t.description, parametersJsonSchema: t.parameters ?? noArguments })) }] : undefined,
        toolConfig: modes[r.choice?.mode] && { functionCallingConfig: { mode: modes[r.choice.mode] } },
        maxOutputTokens: p.max_tokens, temperature: p.temperature, topP: p.top_p, topK: p.top_k, seed: p.seed, stopSequences: p.stop,
        thinkingConfig: p.effort && { includeThoughts: true, thinkingLevel: p.effort.toUpperCase() },
        responseMimeType: p.schema && 'application/json', responseJsonSchema: p.schema,
      }),
    };
    for (const m of r.messages) if (m.role !== 'system') this.add(m.role === 'assistant' ? 'model' : 'user', m.parts.flatMap(parts));
  }

  add(role, list) {
    const last = this.params.contents.at(-1);
    if (last?.role === role) last.parts.push(...list);
    else this.params.contents.push({ role, parts: list });
  }

  async ask(stream) {
    const replies = [];
    if (stream) for await (const chunk of await this.client.models.generateContentStream(this.params)) replies.push(chunk);
    else replies.push(await this.client.models.generateContent(this.params));
    const said = replies.flatMap((r) => r.candidates[0].content?.parts ?? []);
    const counts = replies.map((r) => r.usageMetadata).filter(Boolean).at(-1) ?? {};
    this.calls = said.filter((p) => p.functionCall).map((p) => p.functionCall);
    this.params.contents.push({ role: 'model', parts: said });
    return answer({
      text: said.filter((p) => p.text && !p.thought).map((p) => p.text).join(''),
      think: said.filter((p) => p.text && p.thought).map((p) => p.text).join(''),
      calls: this.calls.map((c) => ({ name: c.name, args: c.args ?? {} })),
      stop: replies.map((r) => r.candidates[0].finishReason).filter(Boolean).at(-1),
      in: counts.promptTokenCount, out: counts.candidatesTokenCount + (counts.thoughtsTokenCount ?? 0),
    });
  }

  give(texts) {
    this.params.contents.push({ role: 'user', parts: texts.map((output, i) => ({ functionResponse: defined({ id: this.calls[i].id, name: this.calls[i].name, response: { output } }) })) });
  }
}

const data = (b) => ({ inlineData: { mimeType: b.mime, data: b.data } });

function parts(p) {
  switch (p.type) {
    case 'text': return [{ text: p.text }];
    case 'call': return [{ functionCall: { id: p.id, name: p.name, args: p.arguments } }];
    case 'blob': return [p.url ? { fileData: { fileUri: p.url, mimeType: p.mime } } : data(p)];
    case 'result': {
      const files = of(p, 'blob').map(data);
      return [{ functionResponse: defined({ id: p.call_id, name: p.name, response: { [p.status === 'ok' ? 'output' : 'error']: textOf(p) }, parts: files.length ? files : undefined }) }];
    }
  }
  return [];
}
