// What the SDKs' drivers read of a request in this module's JSON.

export const textOf = (m) => m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('\n');
export const of = (m, type) => m.parts.filter((p) => p.type === type);
export const noArguments = { type: 'object', properties: {} };
export const dataURL = (b) => b.url ?? `data:${b.mime};base64,${b.data}`;

// parsed reads a call's arguments where an SDK leaves them as text.
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (e) {
    return `not JSON: ${e.message}: ${text}`;
  }
}

// defined drops the fields that are undefined.
export const defined = (o) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined));

// answer is what a program gets of a reply; Go has the same type.
export const answer = (a) => ({ text: '', think: '', calls: null, stop: '', in: 0, out: 0, ...a, calls: a.calls?.length ? a.calls : null });
