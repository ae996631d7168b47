// Reads a reply and shows its raw text beside the calls that were found. It
// knows no server: ask({text, tools, model, cut}) gives what package dash
// calls Explained, from wherever the parser runs.
import { h, shown, plain, name, count, plural } from './dom.js';

const words = {
  text: 'text', think: 'thinking', mark: 'markup', marker: 'marker of a call', name: 'name of a tool', args: 'arguments', problem: 'refused or broken',
};

const status = { ok: ['good', 'as written'], repaired: ['fixed', 'mended'], invalid: ['bad', 'does not fit its tool'] };

export const badge = (kind, text) => h('span', { class: `badge ${kind}` }, text);

// explained shows what was read. show(at) shows the state after so many units
// had arrived; without it all is there.
// Its headings begin at a level.
export function explained(data, level) {
  const H = n => 'h' + (level + n);
  const raw = h('div', { class: 'raw', tabindex: 0, role: 'region', 'aria-label': 'The raw text' });
  const side = h('div', { class: 'found' });
  const total = data.fields.reduce((n, f) => n + f.length, 0);
  const where = place => data.fields.filter(f => (f.in || '') === (place?.in || ''))[0];

  // decided is how much of a field is decided when so much of it has arrived.
  function decided(f, arrived) {
    let n = 0;
    for (const [fed, to] of f.steps) { if (fed > arrived) break; n = to; }
    return arrived >= f.length ? f.length : n;
  }

  function show(at = total) {
    const arrived = new Map(), settled = new Map();
    let left = at;
    for (const f of data.fields) {
      arrived.set(f, Math.min(f.length, left));
      settled.set(f, decided(f, arrived.get(f)));
      left = Math.max(0, left - f.length);
    }
    raw.replaceChildren(...data.fields.map(f => field(f, settled.get(f), arrived.get(f))));
    const cards = [];
    data.calls.forEach((c, i) => {
      const f = where(c.length === undefined ? null : c);
      if (c.length !== undefined && f) {
        if (arrived.get(f) < c.began) return;
        cards.push(card(c, i, arrived.get(f) >= c.ended));
      } else cards.push(card(c, i, true));
    });
    data.problems.forEach((p, i) => {
      const f = p.length === undefined ? null : where(p);
      if (f && settled.get(f) < starts(f, i)) return;
      cards.push(refusal(p, i));
    });
    if (!cards.length) cards.push(h('p', { class: 'none' }, total ? 'No call here: all of it is text.' : 'Nothing has been read yet.'));
    side.replaceChildren(...cards);
  }

  // starts is where the text of a problem begins to be decided.
  function starts(f, problem) {
    let at = 0;
    for (const s of f.spans) { if (s.problem === problem) return at + s.text.length; at += s.text.length; }
    return 0;
  }

  function field(f, settled, arrived) {
    const text = h('pre', { class: 'text' });
    let at = 0;
    for (const s of f.spans) {
      const end = at + s.text.length, cut = Math.max(at, Math.min(end, settled));
      if (cut > at) text.append(span(s, s.text.slice(0, cut - at)));
      at = end;
    }
    const all = f.spans.map(s => s.text).join('');
    if (arrived > settled) text.append(h('span', { class: 't held', title: 'arrived, and held back: it may still become part of a call' }, shown(all.slice(settled, arrived))));
    if (f.length > arrived) text.append(h('span', { class: 't later', title: 'has not arrived yet' }, shown(all.slice(Math.max(arrived, settled)))));
    return h('div', { class: 'field' }, data.fields.length > 1 ? h('p', { class: 'label' }, f.in ? 'Reasoning' : 'Text') : null, text);
  }

  function span(s, text) {
    const el = h('span', { class: `t ${s.kind}`, title: s.why ? plain(s.why) : s.kind === 'text' ? undefined : words[s.kind] }, shown(text));
    const to = s.call !== undefined ? `call-${s.call}` : s.problem !== undefined ? `problem-${s.problem}` : '';
    if (to) {
      el.dataset.to = to;
      el.addEventListener('click', () => { document.getElementById(to)?.scrollIntoView({ block: 'nearest' }); light(to, true); });
      el.addEventListener('mouseenter', () => light(to, true));
      el.addEventListener('mouseleave', () => light(to, false));
    }
    return el;
  }

  // light marks what belongs together.
  function light(to, on) {
    for (const el of raw.querySelectorAll('[data-to]')) el.classList.toggle('lit', on && el.dataset.to === to);
    for (const el of side.children) el.classList.toggle('lit', on && el.id === to);
  }

  const lights = to => ({ id: to, tabindex: 0, role: 'group', mouseenter: () => light(to, true), mouseleave: () => light(to, false), focus: () => light(to, true), blur: () => light(to, false) });

  function card(c, i, done) {
    const [kind, said] = done ? status[c.status] || ['', c.status] : ['wait', 'arriving'];
    const out = h('section', { class: 'call', ...lights(`call-${i}`), 'aria-label': `Call ${i + 1}: ${plain(c.name)}` },
      h('header', {}, h(H(1), {}, name(c.name || '(no name)')), badge(kind, said)),
      h('p', { class: 'note' }, c.grammar === 'native' ? 'a native call, in the provider’s own field' : ['dialect ', h('code', {}, plain(c.grammar)), `, ${plural(c.length, 'byte')} at ${count(c.offset)}`]));
    if (!done) return out;
    if (c.arguments !== undefined) out.append(h('pre', { class: 'json', tabindex: 0, 'aria-label': 'Arguments' }, shown(JSON.stringify(c.arguments, null, 2))));
    else if (c.arguments_raw !== undefined) out.append(h('pre', { class: 'json', tabindex: 0, 'aria-label': 'Arguments as written' }, shown(c.arguments_raw)));
    if (c.fixes.length) out.append(h('p', { class: 'label' }, plural(c.fixes.length, 'fix', 'fixes')), h('ul', { class: 'fixes' }, c.fixes.map(fix)));
    if (c.issues.length) out.append(h('p', { class: 'label' }, 'Why it does not fit'), h('ul', { class: 'fixes' }, c.issues.map(x => h('li', { class: 'bad' }, x.path ? [h('code', {}, plain(x.path)), ': '] : null, plain(x.message)))));
    return out;
  }

  function fix(x) {
    return h('li', {}, h('b', {}, plain(x.why)), x.path ? [' at ', h('code', {}, plain(x.path))] : null,
      x.was || x.now ? h('span', { class: 'change' }, x.was ? h('del', {}, shown(x.was)) : null, x.was && x.now ? ' → ' : null, x.now ? h('ins', {}, shown(x.now)) : x.was ? ' left out' : null) : null);
  }

  function refusal(p, i) {
    return h('section', { class: 'call problem', ...lights(`problem-${i}`), 'aria-label': `Not a call: ${plain(p.kind)}` },
      h('header', {}, h(H(1), {}, p.name ? name(p.name) : 'No call'), badge('bad', plain(p.kind).replaceAll('_', ' '))),
      h('p', {}, plain(p.message)),
      h('p', { class: 'note' }, p.grammar ? ['dialect ', h('code', {}, plain(p.grammar))] : 'in the provider’s own field', p.length !== undefined ? `, ${plural(p.length, 'byte')} at ${count(p.offset)}` : null));
  }

  show();
  const el = h('div', { class: 'split' },
    h('section', { class: 'pane' }, h(H(0), {}, 'Raw text'), raw, legend(data)),
    h('section', { class: 'pane' }, h(H(0), {}, 'Calls and refusals'), side));
  return { el, show, total };
}

function legend(data) {
  const there = new Set(data.fields.flatMap(f => f.spans).filter(s => s.text.trim()).map(s => s.kind));
  return h('ul', { class: 'legend', 'aria-label': 'Colours of the raw text' }, Object.keys(words).filter(k => there.has(k)).map(k => h('li', {}, h('span', { class: `t ${k}` }, words[k]))));
}

// summary says what was found, in a sentence.
export function summary(data) {
  const fixes = data.calls.reduce((n, c) => n + c.fixes.length, 0);
  const dialects = [...new Set(data.calls.map(c => c.grammar))];
  const parts = [plural(data.calls.length, 'call')];
  if (dialects.length) parts[0] += ` (${dialects.map(plain).join(', ')})`;
  if (fixes) parts.push(plural(fixes, 'fix', 'fixes'));
  if (data.problems.length) parts.push(plural(data.problems.length, 'refusal'));
  return parts.join(' · ');
}

const examples = [
  ['A call with three slips (Hermes)', 'I will look that up.\n\n<tool_call>\n{"name": "get_weather", "arguments": {city: "Oslo", "days": "3",}}\n</tool_call>'],
  ['Thinking, then tags (Qwen3-Coder)', '<think>The user wants Bergen. Three days will do.</think>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nBergen\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>'],
  ['Two calls at once (Mistral)', '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Trondheim"}}, {"name": "get_weather", "arguments": {"city": "Bodø", "days": 2}}]'],
  ['Plain words, and a call (ReAct)', 'Thought: I should look at the forecast.\nAction: get_weather\nAction Input: {"city": "Tromsø", "days": 1}'],
  ['One that is shown, not made', 'To ask for the weather, write <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call> and wait for the result.'],
  ['A reply of OpenAI’s API', '{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\\"city\\": \\"Oslo\\"}"}}]},"finish_reason":"tool_calls"}]}'],
];
const tools = '[{"type": "function", "function": {"name": "get_weather", "description": "The weather of a city", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}]';

// reader is the text box: what is typed or pasted is read as it stands.
export function reader({ ask }) {
  let out = null, data = null, timer = 0, turn = 0, playing = 0;
  const text = h('textarea', { id: 'reply', rows: 9, spellcheck: 'false', autocomplete: 'off', input: soon, placeholder: 'Paste what a model wrote, or the whole reply of a provider’s API.' });
  const offered = h('textarea', { id: 'tools', rows: 5, spellcheck: 'false', input: soon, placeholder: '[{"type": "function", "function": {"name": …, "parameters": …}}]' });
  const model = h('input', { id: 'model', type: 'text', autocomplete: 'off', spellcheck: 'false', input: soon, placeholder: 'qwen3-coder' });
  const pick = h('select', { id: 'example', change: example }, h('option', { value: '' }, 'Choose one …'), examples.map(([label], i) => h('option', { value: String(i) }, label)));
  const slide = h('input', { id: 'at', type: 'range', min: 0, max: 0, value: 0, step: 1, disabled: true, input: () => { stop(); moved(); } });
  const where = h('output', { for: 'at', class: 'where' });
  const play = h('button', { type: 'button', disabled: true, click: () => (playing ? stop() : start()) }, 'Play');
  const cut = h('input', { id: 'cut', type: 'checkbox', change: read });
  const say = h('p', { class: 'summary', role: 'status' });
  const place = h('div', {});

  function example() {
    if (pick.value === '') return;
    text.value = examples[pick.value][1];
    offered.value = JSON.stringify(JSON.parse(tools), null, 2);
    cut.checked = false;
    read();
  }

  function soon() { clearTimeout(timer); timer = setTimeout(read, 180); }

  async function read() {
    stop();
    clearTimeout(timer);
    const mine = ++turn, at = Number(slide.value), whole = !cut.checked || at === 0 || !out;
    const source = whole ? text.value : pieces(at);
    if (!text.value.trim()) {
      data = out = null;
      slide.disabled = play.disabled = true;
      slide.max = slide.value = 0;
      where.textContent = say.textContent = '';
      place.replaceChildren(hint());
      return;
    }
    let got;
    try {
      got = await ask({ text: source, tools: offered.value, model: model.value.trim(), cut: cut.checked });
    } catch (e) {
      if (mine === turn) { say.className = 'summary say'; say.textContent = plain(e.message); }
      return;
    }
    if (mine !== turn) return;
    say.className = 'summary';
    data = got;
    out = explained(data, 2);
    place.replaceChildren(out.el);
    slide.disabled = play.disabled = !out.total;
    slide.max = out.total;
    slide.value = out.total;
    cut.disabled = !cut.checked && out.total !== text.value.length; // of a provider's reply no piece is a reply
    moved(true);
  }

  // pieces is the text that had arrived at a place.
  const pieces = at => text.value.slice(0, at);

  function moved(all) {
    const at = Number(slide.value);
    if (all !== true) out.show(at);
    where.textContent = at === out.total ? `all ${count(at)} characters` : `${count(at)} of ${count(out.total)} characters`;
    slide.setAttribute('aria-valuetext', where.textContent);
    say.textContent = at === out.total ? summary(data) : 'While it streams: what is hatched is held back, because it may still become part of a call.';
  }

  function start() {
    if (Number(slide.value) >= out.total) slide.value = 0;
    play.textContent = 'Stop';
    const step = Math.max(1, Math.round(out.total / 240));
    playing = setInterval(() => {
      slide.value = Math.min(out.total, Number(slide.value) + step);
      moved();
      if (Number(slide.value) >= out.total) stop();
    }, 25);
  }

  function stop() { clearInterval(playing); playing = 0; play.textContent = 'Play'; }

  const hint = () => h('div', { class: 'empty' }, h('p', { class: 'big' }, 'Nothing to read yet'),
    h('p', {}, 'Paste a reply above, or choose an example. It is read by the parser of bx and of the gateway, on this machine, and kept nowhere.'));

  const el = h('div', { class: 'reader' },
    h('div', { class: 'card form' },
      h('div', { class: 'line' }, h('label', { for: 'reply' }, 'Reply of a model'), h('span', { class: 'grow' }), h('label', { for: 'example', class: 'soft' }, 'Example'), pick),
      text,
      h('details', { class: 'more' }, h('summary', {}, 'Tools and model'),
        h('p', { class: 'note' }, 'Both may stay empty. With the tools that were offered, names and arguments are checked too; a model’s own dialects are tried first.'),
        h('label', { for: 'model' }, 'Model'), model, h('label', { for: 'tools' }, 'Tools, as JSON'), offered),
      h('div', { class: 'line stream' }, play, h('label', { for: 'at', class: 'soft' }, 'Arrived'), slide, where,
        h('label', { class: 'check', for: 'cut' }, cut, 'the output was cut off here')),
      say),
    place);
  place.append(hint());
  return { el, close: stop };
}
