// Elements, and texts as they may be shown. Whatever a model, a tool or a
// client wrote becomes a text node here, and nothing else.

const SVG = 'http://www.w3.org/2000/svg';
const banned = /^(on|style$|src|srcdoc|action|formaction|xlink)/i; // attributes that could act

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') el.addEventListener(name, value);
    else if (banned.test(name)) throw new Error(`h: ${name}`);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden') el[name] = value;
    else el.setAttribute(name, value === true ? '' : value);
  }
  el.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
  return el;
}

// h makes an element: h('a', {href: '#/live'}, 'Live'). Functions are listeners.
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);

// svg makes an element of a drawing.
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

// unseen are characters that draw nothing, or turn around what stands beside
// them: controls, escapes, marks of direction, blanks without width.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const code = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
const sign = c => c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : c === '\x7f' ? '␡' : code(c);

// shown is a text as nodes, with a chip for each character that is not seen.
export function shown(text) {
  const out = [];
  let at = 0;
  for (const m of String(text).matchAll(unseen)) {
    if (m[0] === '\r' && text[m.index + 1] === '\n') continue;
    if (m.index > at) out.push(document.createTextNode(text.slice(at, m.index)));
    out.push(h('span', { class: 'unseen', title: code(m[0]) }, sign(m[0])));
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push(document.createTextNode(text.slice(at)));
  return out;
}

// plain is a text of one line, for names, titles and labels.
export const plain = text => String(text ?? '').replace(unseen, sign).replace(/\s+/g, ' ');

// name is a name that a stranger chose, kept to its place.
export const name = (text, props) => h('bdi', { class: 'name', title: plain(text), ...props }, plain(text));

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
export const count = n => whole.format(n || 0);
export const brief = n => (n || 0) < 10000 ? whole.format(n || 0) : short.format(n);
export const percent = x => Number.isFinite(x) ? `${(x * 100).toFixed(x > 0.995 && x < 1 || x > 0 && x < 0.1 ? 1 : 0)} %` : '–';
export const money = x => x === undefined || x === null ? '–' : '$' + (x >= 100 ? whole.format(Math.round(x)) : x.toFixed(x >= 1 || x === 0 ? 2 : 4));
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + 's'}`;

// took is a time in microseconds, for people.
export function took(us) {
  if (!us) return '–';
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${Math.round(us / 1000)} ms`;
  if (us < 6e7) return `${(us / 1e6).toFixed(1)} s`;
  return `${Math.floor(us / 6e7)} min ${Math.round(us / 1e6) % 60} s`;
}

const two = n => String(n).padStart(2, '0');
export const clock = ms => { const d = new Date(ms); return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`; };
export const day = ms => new Date(ms).toLocaleDateString('en', { month: 'short', day: 'numeric' });
export const when = ms => Date.now() - ms < 864e5 / 2 ? clock(ms) : `${day(ms)}, ${clock(ms).slice(0, 5)}`;
