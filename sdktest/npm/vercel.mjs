// The AI SDK, through its providers of four APIs.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, RetryError, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import { answer, defined, noArguments, of, textOf } from './parts.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

// fault has no kind: the SDK leaves it in the body.
const fault = (e) => (APICallError.isInstance(e) ? { status: e.statusCode, kind: '', message: e.message } : null);

const driver = (provider, options) => {
  const begin = (url, r) => new Session(provider(url)(r.model), r, options(r));
  return { fault, begin, loop: (url, r, stream, run) => begin(url, r).loop(stream, run) };
};

export const chat = driver((url) => createOpenAICompatible({ name: 'local', apiKey: 'key', baseURL: `${url}/v1`, includeUsage: true }), (r) => ({
  local: defined({ reasoningEffort: r.params?.effort, parallel_tool_calls: r.choice?.parallel }),
}));
export const responses = driver((url) => createOpenAI({ apiKey: 'key', baseURL: `${url}/v1` }).responses, (r) => ({
  openai: defined({ parallelToolCalls: r.choice?.parallel, reasoningEffort: r.params?.effort, store: false, forceReasoning: r.params?.effort !== undefined }),
}));
export const anthropic = driver((url) => createAnthropic({ apiKey: 'key', baseURL: `${url}/v1` }), (r) => ({
  anthropic: defined({ disableParallelToolUse: r.choice?.parallel === undefined ? undefined : !r.choice.parallel, effort: r.params?.effort, thinking: r.params?.effort && { type: 'adaptive' } }),
}));
export const gemini = driver((url) => createGoogleGenerativeAI({ apiKey: 'key', baseURL: `${url}/v1beta` }), (r) => ({
  google: defined({ thinkingConfig: r.params?.effort && { includeThoughts: true, thinkingLevel: r.params.effort } }),
}));

class Session {
  constructor(model, r, providerOptions) {
    const p = r.params ?? {};
    const names = Object.fromEntries(r.messages.flatMap((m) => of(m, 'call')).map((c) => [c.id, c.name]));
    const system = r.messages.filter((m) => m.role === 'system').map(textOf).join('\n');
    this.params = defined({
      model, providerOptions, maxRetries: 0,
      system: system || undefined,
      messages: r.messages.filter((m) => m.role !== 'system').map((m) => message(m, names)),
      tools: r.tools && Object.fromEntries(r.tools.map((t) => [t.name, tool({ description: t.description, inputSchema: jsonSchema(t.parameters ?? noArguments) })])),
      toolChoice: r.choice?.mode,
      maxOutputTokens: p.max_tokens, temperature: p.temperature, topP: p.top_p, topK: p.top_k, seed: p.seed, stopSequences: p.stop,
    });
  }

  async ask(stream) {
    let failed;
    const reply = stream ? streamText({ ...this.params, onError: ({ error }) => { failed ??= error; } }) : await generateText(this.params);
    if (stream) await reply.consumeStream({ onError: (e) => { failed ??= e; } });
    if (failed) throw RetryError.isInstance(failed) ? failed.lastError : failed;
    const counts = await reply.usage;
    this.calls = await reply.toolCalls;
    this.params.messages.push(...(await reply.response).messages);
    return answer({
      text: await reply.text, think: (await reply.reasoning).map((p) => p.text ?? '').join(''), stop: await reply.finishReason,
      calls: this.calls.map((c) => ({ name: c.toolName, args: c.input })),
      in: counts.inputTokens, out: counts.outputTokens,
    });
  }

  async loop(stream, run) {
    const tools = Object.fromEntries(Object.entries(this.params.tools).map(([name, t]) => [name, { ...t, execute: (args) => run(name, args) }]));
    const params = { ...this.params, tools, stopWhen: isStepCount(5) };
    return stream ? streamText(params).text : (await generateText(params)).text;
  }

  give(texts) {
    this.params.messages.push({ role: 'tool', content: texts.map((value, i) => ({ type: 'tool-result', toolCallId: this.calls[i].toolCallId, toolName: this.calls[i].toolName, output: { type: 'text', value } })) });
  }
}

function message(m, names) {
  switch (m.role) {
    case 'tool':
      return { role: 'tool', content: of(m, 'result').map((r) => ({ type: 'tool-result', toolCallId: r.call_id, toolName: names[r.call_id], output: { type: r.status === 'ok' ? 'text' : 'error-text', value: textOf(r) } })) };
    case 'assistant':
      return { role: 'assistant', content: m.parts.flatMap(said) };
  }
  return { role: m.role, content: textOf(m) };
}

function said(p) {
  switch (p.type) {
    case 'text': return [{ type: 'text', text: p.text }];
    case 'call': return [{ type: 'tool-call', toolCallId: p.id, toolName: p.name, input: p.arguments }];
  }
  return [];
}
