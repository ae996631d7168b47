import { Ollama } from 'ollama';
import { answer, defined, noArguments, of, textOf } from './parts.mjs';

const connect = (url) => new Ollama({ host: url });

export const fault = (e) => (e.name === 'ResponseError' ? { status: e.status_code, kind: '', message: e.error } : null);

export const models = async (url) => (await connect(url).list()).models.map((m) => m.name);

export const embed = async (url, model, texts) => (await connect(url).embed({ model, input: texts })).embeddings;

export const begin = (url, r) => new Session(url, r);

class Session {
  constructor(url, r) {
    const p = r.params ?? {};
    const options = defined({ num_predict: p.max_tokens, temperature: p.temperature, top_p: p.top_p, top_k: p.top_k, seed: p.seed, stop: p.stop, num_ctx: p.context });
    this.client = connect(url);
    this.params = defined({
      model: r.model,
      messages: r.messages.flatMap(messages),
      tools: r.tools?.map((t) => ({ type: 'function', function: { name: t.name, description: t.description, parameters: t.parameters ?? noArguments } })),
      think: p.effort, format: p.schema,
      options: Object.keys(options).length ? options : undefined,
    });
  }

  async ask(stream) {
    const replies = [];
    if (stream) for await (const line of await this.client.chat({ ...this.params, stream: true })) replies.push(line);
    else replies.push(await this.client.chat(this.params));
    const join = (key) => replies.map((r) => r.message[key] ?? '').join('');
    const message = { role: 'assistant', content: join('content'), thinking: join('thinking') || undefined, tool_calls: replies.flatMap((r) => r.message.tool_calls ?? []) };
    const end = replies.at(-1);
    if (!end.done) throw new Error('the stream had no end');
    this.calls = message.tool_calls;
    this.params.messages.push(message);
    return answer({
      text: message.content, think: message.thinking, calls: this.calls.map((c) => ({ name: c.function.name, args: c.function.arguments })),
      stop: end.done_reason, in: end.prompt_eval_count, out: end.eval_count,
    });
  }

  give(texts) {
    this.params.messages.push(...texts.map((content, i) => defined({ role: 'tool', tool_name: this.calls[i].function.name, tool_call_id: this.calls[i].id, content })));
  }
}

function messages(m) {
  if (m.role === 'tool') return of(m, 'result').map((r) => ({ role: 'tool', tool_name: r.name, tool_call_id: r.call_id, content: textOf(r) }));
  const calls = of(m, 'call'), files = of(m, 'blob');
  return [defined({
    role: m.role, content: textOf(m),
    images: files.length ? files.map((b) => b.data) : undefined,
    tool_calls: calls.length ? calls.map((c) => ({ id: c.id, function: { name: c.name, arguments: c.arguments } })) : undefined,
  })];
}
