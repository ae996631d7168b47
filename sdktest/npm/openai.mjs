import OpenAI from 'openai';
import { answer, dataURL, defined, noArguments, of, parsed, textOf } from './parts.mjs';

const connect = (url) => new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 });

const fault = (e) => (e instanceof OpenAI.APIError ? { status: e.status, kind: e.type, message: e.error?.message } : null);

async function models(url) {
  const ids = [];
  for await (const m of connect(url).models.list()) ids.push(m.id);
  return ids;
}

async function embed(url, model, texts) {
  const reply = await connect(url).embeddings.create({ model, input: texts });
  return reply.data.map((d) => d.embedding);
}

export const chat = { fault, models, embed, loop, begin: (url, r) => new Chat(url, r) };
export const responses = { fault, models, begin: (url, r) => new Responses(url, r) };

async function loop(url, r, stream, run) {
  const runner = connect(url).chat.completions.runTools({
    stream, model: r.model, messages: r.messages.flatMap(chatMessages),
    tools: r.tools.map((t) => ({
      type: 'function',
      function: { name: t.name, description: t.description, parameters: t.parameters, parse: JSON.parse, function: (args) => run(t.name, args) },
    })),
  });
  return runner.finalContent();
}

const modes = { required: 'required', none: 'none' };

class Chat {
  constructor(url, r) {
    const p = r.params ?? {};
    this.client = connect(url);
    this.params = defined({
      model: r.model,
      messages: r.messages.flatMap(chatMessages),
      tools: r.tools?.map((t) => ({ type: 'function', function: { name: t.name, description: t.description, parameters: t.parameters ?? noArguments } })),
      tool_choice: modes[r.choice?.mode],
      parallel_tool_calls: r.choice?.parallel,
      max_completion_tokens: p.max_tokens, temperature: p.temperature, top_p: p.top_p, seed: p.seed, stop: p.stop, reasoning_effort: p.effort,
      response_format: p.schema && { type: 'json_schema', json_schema: { name: 'answer', schema: p.schema } },
    });
  }

  async ask(stream) {
    let reply, think = '';
    if (stream) {
      const events = this.client.chat.completions.stream({ ...this.params, stream_options: { include_usage: true } });
      for await (const chunk of events) think += chunk.choices[0]?.delta.reasoning_content ?? '';
      reply = await events.finalChatCompletion();
    } else {
      reply = await this.client.chat.completions.create(this.params);
      think = reply.choices[0].message.reasoning_content ?? '';
    }
    const { message, finish_reason } = reply.choices[0];
    this.calls = message.tool_calls ?? [];
    this.params.messages.push(message);
    return answer({
      text: message.content ?? '', think, stop: finish_reason,
      calls: this.calls.map((c) => ({ name: c.function.name, args: parsed(c.function.arguments) })),
      in: reply.usage.prompt_tokens, out: reply.usage.completion_tokens,
    });
  }

  give(texts) {
    this.params.messages.push(...texts.map((content, i) => ({ role: 'tool', tool_call_id: this.calls[i].id, content })));
  }
}

function chatMessages(m) {
  const content = textOf(m), calls = of(m, 'call');
  switch (m.role) {
    case 'tool':
      return of(m, 'result').map((r) => ({ role: 'tool', tool_call_id: r.call_id, content: textOf(r) }));
    case 'assistant':
      return [defined({
        role: 'assistant', content: content || null,
        tool_calls: calls.length ? calls.map((c) => ({ id: c.id, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.arguments) } })) : undefined,
      })];
  }
  return [{ role: m.role, content }];
}

class Responses {
  constructor(url, r) {
    const p = r.params ?? {};
    this.client = connect(url);
    this.params = defined({
      model: r.model,
      input: r.messages.flatMap(items),
      tools: r.tools?.map((t) => (t.kind === 'custom'
        ? { type: 'custom', name: t.name, description: t.description }
        : { type: 'function', name: t.name, description: t.description, parameters: t.parameters ?? noArguments, strict: false })),
      tool_choice: modes[r.choice?.mode],
      parallel_tool_calls: r.choice?.parallel,
      max_output_tokens: p.max_tokens, temperature: p.temperature, top_p: p.top_p,
      reasoning: p.effort && { effort: p.effort },
      text: p.schema && { format: { type: 'json_schema', name: 'answer', schema: p.schema } },
    });
  }

  async ask(stream) {
    const reply = stream ? await this.client.responses.stream(this.params).finalResponse() : await this.client.responses.create(this.params);
    this.calls = reply.output.filter((i) => i.type === 'function_call' || i.type === 'custom_tool_call');
    this.params.input.push(...reply.output);
    return answer({
      text: reply.output_text, stop: reply.status,
      think: reply.output.filter((i) => i.type === 'reasoning').flatMap((i) => [...i.summary, ...(i.content ?? [])]).map((p) => p.text).join(''),
      calls: this.calls.map((c) => ({ name: c.name, args: c.type === 'custom_tool_call' ? { input: c.input } : parsed(c.arguments) })),
      in: reply.usage.input_tokens, out: reply.usage.output_tokens,
    });
  }

  give(texts) {
    this.params.input.push(...texts.map((output, i) => ({ type: `${this.calls[i].type}_output`, call_id: this.calls[i].call_id, output })));
  }
}

function items(m, _, all) {
  const text = textOf(m), files = of(m, 'blob'), out = [];
  const custom = (r) => all.some((n) => of(n, 'call').some((c) => c.id === r.call_id && c.kind === 'custom'));
  if (m.role === 'tool') return of(m, 'result').map((r) => ({ type: custom(r) ? 'custom_tool_call_output' : 'function_call_output', call_id: r.call_id, output: output(r) }));
  if (files.length) return [{ role: m.role, content: [{ type: 'input_text', text }, ...files.map(file)] }];
  if (text) out.push({ role: m.role, content: text });
  for (const c of of(m, 'call')) {
    if (c.kind === 'custom') out.push({ type: 'custom_tool_call', call_id: c.id, name: c.name, input: c.raw_arguments });
    else out.push({ type: 'function_call', call_id: c.id, name: c.name, arguments: JSON.stringify(c.arguments) });
  }
  return out;
}

const file = (b) => (b.mime.startsWith('image/')
  ? { type: 'input_image', image_url: dataURL(b), detail: 'auto' }
  : { type: 'input_file', file_data: dataURL(b), filename: b.name });

function output(r) {
  const text = textOf(r), files = of(r, 'blob');
  if (!files.length) return text;
  return [...(text ? [{ type: 'input_text', text }] : []), ...files.map(file)];
}
