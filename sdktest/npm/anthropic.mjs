import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { answer, defined, noArguments, of, textOf } from './parts.mjs';

const connect = (url) => new Anthropic({ apiKey: 'key', baseURL: url, maxRetries: 0 });

export const fault = (e) => (e instanceof Anthropic.APIError ? { status: e.status, kind: e.error?.error?.type, message: e.error?.error?.message } : null);

export async function models(url) {
  const ids = [];
  for await (const m of connect(url).models.list()) ids.push(m.id);
  return ids;
}

export async function loop(url, r, stream, run) {
  const { client, params } = new Session(url, r);
  const tools = r.tools.map((t) => betaTool({ name: t.name, description: t.description, inputSchema: t.parameters, run: (args) => run(t.name, args) }));
  const reply = await client.beta.messages.toolRunner({ ...params, tools, stream }).runUntilDone();
  return reply.content.filter((b) => b.type === 'text').map((b) => b.text).join('');
}

export const begin = (url, r) => new Session(url, r);

class Session {
  constructor(url, r) {
    const p = r.params ?? {};
    const system = r.messages.filter((m) => m.role === 'system').map(textOf).join('\n');
    this.client = connect(url);
    this.params = defined({
      model: r.model,
      max_tokens: p.max_tokens ?? 8000,
      system: system || undefined,
      messages: [],
      tools: r.tools?.map((t) => ({ name: t.name, description: t.description, input_schema: t.parameters ?? noArguments })),
      tool_choice: choice(r.choice ?? {}),
      temperature: p.temperature, top_p: p.top_p, top_k: p.top_k, stop_sequences: p.stop,
      thinking: p.effort && { type: 'adaptive' },
      output_config: (p.effort || p.schema) && defined({ effort: p.effort, format: p.schema && { type: 'json_schema', schema: p.schema } }),
    });
    for (const m of r.messages) if (m.role !== 'system') this.add(m.role === 'assistant' ? 'assistant' : 'user', m.parts.flatMap(blocks));
  }

  // add puts the results of a turn, and what the user says to them, into one message.
  add(role, content) {
    const last = this.params.messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.params.messages.push({ role, content });
  }

  async ask(stream) {
    const reply = stream ? await this.client.messages.stream(this.params).finalMessage() : await this.client.messages.create(this.params);
    this.calls = reply.content.filter((b) => b.type === 'tool_use');
    this.params.messages.push({ role: reply.role, content: reply.content });
    return answer({
      text: reply.content.filter((b) => b.type === 'text').map((b) => b.text).join(''),
      think: reply.content.filter((b) => b.type === 'thinking').map((b) => b.thinking).join(''),
      calls: this.calls.map((c) => ({ name: c.name, args: c.input })),
      stop: reply.stop_reason, in: reply.usage.input_tokens, out: reply.usage.output_tokens,
    });
  }

  give(texts) {
    this.add('user', texts.map((content, i) => ({ type: 'tool_result', tool_use_id: this.calls[i].id, content })));
  }
}

function choice(c) {
  const one = c.parallel === undefined ? {} : { disable_parallel_tool_use: !c.parallel };
  if (c.mode === 'required') return { type: 'any', ...one };
  if (c.mode === 'none') return { type: 'none' };
  return c.parallel === undefined ? undefined : { type: 'auto', ...one };
}

const image = (b) => ({ type: 'image', source: b.url ? { type: 'url', url: b.url } : { type: 'base64', media_type: b.mime, data: b.data } });

function blocks(p) {
  switch (p.type) {
    case 'text': return [{ type: 'text', text: p.text }];
    case 'call': return [{ type: 'tool_use', id: p.id, name: p.name, input: p.arguments }];
    case 'blob': return [image(p)];
    case 'result': return [{ type: 'tool_result', tool_use_id: p.call_id, is_error: p.status !== 'ok', content: content(p) }];
  }
  return [];
}

const content = (r) => r.parts.map((p) => {
  if (p.type === 'text') return { type: 'text', text: p.text };
  if (p.mime.startsWith('image/')) return image(p);
  return { type: 'document', source: { type: 'base64', media_type: p.mime, data: p.data } };
});
