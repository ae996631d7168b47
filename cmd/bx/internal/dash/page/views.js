// The views. Each is given what it needs and gives {el, close}.
import { h, plain, shown, name, count, brief, percent, money, plural, took, clock, when } from './dom.js';
import { success, columns, bars, interval } from './chart.js';
import { list } from './list.js';
import { explained, badge, summary } from './reader.js';

const outcomes = { good: 'good', bad: 'bad', silent: 'no call', uncounted: 'not counted' };
const reasons = {
  asked_again: 'it had to be asked for once more', no_call: 'a call was required, and none came', markup: 'markup of calls is left in the text',
  announced: 'it says that it will call, and does not', guessed: 'a call could be used only by a guess', unknown_tool: 'it called a tool that was not offered',
  truncated: 'the output ended inside a call', malformed: 'a call could not be read', missing_name: 'a call named no tool', empty: 'markers of a call had nothing between them',
  too_long: 'a call was longer than the limit', invalid: 'arguments did not fit the tool',
};
const why = r => reasons[r] || plain(r);
const failed = r => r.status >= 400;
const state = r => failed(r) ? badge('bad', `error ${r.status}`) : badge(r.outcome === 'silent' || r.outcome === 'uncounted' ? 'soft' : r.outcome, outcomes[r.outcome] || plain(r.outcome));

export const empty = (title, ...text) => h('div', { class: 'empty' }, h('p', { class: 'big' }, title), text.map(t => h('p', {}, t)));
const card = (title, ...inner) => h('section', { class: 'card' }, h('h2', {}, title), inner);
const code = t => h('code', {}, t);

// absent is shown where there is no store.
export const absent = said => empty('Nothing is kept here', said || 'There is no store of events.');
const nothing = () => empty('No replies yet', h('span', {}, 'Ask something with ', code('bx'), ', or send a request through ', code('bx serve'), '. What happens shows up here by itself; nothing leaves this machine.'));

const tile = (label, value, more) => h('div', { class: 'tile' }, h('dt', {}, label), h('dd', {}, h('span', { class: 'value' }, value), more ? h('span', { class: 'note' }, more) : null));

// loading fills a place with what a request brings, and says what went wrong.
function loading(get, draw) {
  const el = h('div', { class: 'stack', 'aria-busy': 'true' }, h('p', { class: 'none wait' }, 'Loading …'));
  let alive = true;
  get().then(data => alive && el.replaceChildren(...[data.absent !== undefined ? absent(data.absent) : draw(data)].flat()),
    e => alive && el.replaceChildren(empty('This could not be read', plain(e.message)))).finally(() => el.removeAttribute('aria-busy'));
  return { el, close() { alive = false; } };
}

const query = s => `since=${s.since}&model=${encodeURIComponent(s.model)}`;

export const overview = ({ get, state: s }) => loading(() => get(`data/overview?${query(s)}`), o => {
  s.names(o.names);
  const t = o.total, counted = t.good + t.bad;
  if (!t.replies) return nothing();
  return [
    h('dl', { class: 'tiles' },
      tile('Success', counted ? percent(t.good / counted) : '–', counted ? `${percent(t.low)} to ${percent(t.high)}, of ${plural(counted, 'reply', 'replies')}` : 'no reply counts yet'),
      tile('Replies', brief(t.replies), t.silent + t.uncounted ? `${brief(t.silent)} without a call, ${brief(t.uncounted)} not counted` : 'all of them count'),
      tile('Calls', brief(t.calls), `${brief(t.fixes)} repairs in them`),
      tile('Tokens', brief(t.in + t.out), `${brief(t.in)} in, ${brief(t.out)} out`),
      tile('Mean time', took(Math.round(t.took / t.replies)), 'to the end of a reply')),
    card('Success over time', success(o)),
    card('Models', models(o)),
    h('div', { class: 'grid' },
      card('Dialects of calls', bars(o.dialects, { empty: 'No calls in this time.' })),
      card('Forms in which tools were told', bars(o.forms, { empty: 'No tools were told in this time.' })),
      card('Repairs', bars(o.fixes, { empty: 'Nothing had to be mended.' })),
      card('Refused and broken calls', bars(o.problems.map(p => ({ ...p, bad: p.count, name: p.name.replaceAll('_', ' ') })), { empty: 'Every call could be read.' })),
      card('Lost on the way', bars(o.losses, { empty: 'Everything that was asked for could be passed on.' })),
      card('Tools that do not exist', bars(o.invented.map(p => ({ ...p, bad: p.count })), { empty: 'No model called a tool that was not offered.' }))),
  ];
});

function models(o) {
  const from = Math.floor(Math.min(...o.models.filter(m => m.total.good + m.total.bad).map(m => m.total.low), 1) * 10) / 10;
  return h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Models' }, h('table', {},
    h('thead', {}, h('tr', {}, ['Model', 'Success, 95 % interval', 'Replies', 'Calls', 'Tokens', 'Mean time'].map((t, i) => h('th', { scope: 'col', class: i > 1 ? 'num' : '' }, t)))),
    h('tbody', {}, o.models.map(m => h('tr', {}, h('th', { scope: 'row' }, name(m.name)), h('td', {}, interval(m.total, from)), h('td', { class: 'num' }, count(m.total.replies)),
      h('td', { class: 'num' }, count(m.total.calls)), h('td', { class: 'num' }, brief(m.total.in + m.total.out)), h('td', { class: 'num' }, took(Math.round(m.total.took / (m.total.replies || 1)))))))));
}

export const usage = ({ get, state: s }) => loading(() => get(`data/overview?${query(s)}`), o => {
  s.names(o.names);
  const t = o.total;
  if (!t.replies) return nothing();
  const sum = (key, i) => o.models.reduce((n, m) => n + m[key][i], 0);
  return [
    h('dl', { class: 'tiles' },
      tile('Tokens in', brief(t.in), t.cached ? `${percent(t.cached / t.in)} from the cache` : 'none from a cache'),
      tile('Tokens out', brief(t.out), `${brief(Math.round(t.out / t.replies))} a reply`),
      tile('Money', money(t.cost), t.cost === undefined ? 'no price is known' : 'of models with a known price')),
    card('Tokens over time', columns(o, ['in', 'out'], i => [sum('in', i), sum('out', i)])),
    card('By model', h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Tokens and money by model' }, h('table', {},
      h('thead', {}, h('tr', {}, ['Model', 'In', 'Cached', 'Out', 'Money'].map((n, i) => h('th', { scope: 'col', class: i ? 'num' : '' }, n)))),
      h('tbody', {}, o.models.map(m => h('tr', {}, h('th', { scope: 'row' }, name(m.name)), [count(m.total.in), count(m.total.cached), count(m.total.out), money(m.total.cost)].map(v => h('td', { class: 'num' }, v))))))),
      t.cost === undefined ? h('p', { class: 'note' }, 'Money is shown for models whose price is known. Servers on this machine cost none.') : null),
  ];
});

export const tools = ({ get, state: s }) => loading(() => get(`data/overview?${query(s)}`), o => {
  s.names(o.names);
  if (!o.tools.length) return empty('No tool of bx ran in this time', h('span', {}, 'The tools that ', code('bx'), ' runs are timed here. A gateway does not run the tools of its clients, so it has no times of theirs.'));
  const most = Math.max(...o.tools.map(t => t.mean));
  return [card('Tools of bx, the slowest first', h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Tools of bx' }, h('table', {},
    h('thead', {}, h('tr', {}, ['Tool', 'Mean', 'Half within', '95 % within', 'All together', 'Runs', 'Failed', 'Refused'].map((n, i) => h('th', { scope: 'col', class: i ? 'num' : '' }, n)))),
    h('tbody', {}, o.tools.map(t => {
      const bar = h('span', { class: 'bar slim', 'aria-hidden': 'true' }), fill = h('span', { class: 'fill' });
      fill.style.width = `${t.mean / most * 100}%`;
      bar.append(fill);
      return h('tr', {}, h('th', { scope: 'row' }, name(t.name), bar), [took(t.mean), took(t.p50), took(t.p95), took(t.spent), count(t.calls)].map(v => h('td', { class: 'num' }, v)),
        h('td', { class: 'num' }, t.failed ? h('span', { class: 'warn' }, `${count(t.failed)} (${percent(t.failed / t.calls)})`) : '0'), h('td', { class: 'num' }, count(t.refused)));
    }))))), h('p', { class: 'note' }, 'A gateway does not run the tools of its clients: these are the ones that bx ran itself.')];
});

const columnsOf = [{ name: 'Time', class: 'c-time' }, { name: 'Outcome', class: 'c-out' }, { name: 'Model', class: 'c-model' }, { name: 'Calls', class: 'c-calls' }, { name: 'Mended, refused', class: 'c-fix' }, { name: 'Tokens', class: 'c-tok num' }, { name: 'Took', class: 'c-took num' }];

function cells(r) {
  const calls = r.calls || (r.names || []).length ? [name((r.names || []).join(', ') || plural(r.calls, 'call')), (r.dialects || []).length ? h('span', { class: 'tag' }, plain(r.dialects.join(', '))) : null] : h('span', { class: 'note' }, 'none');
  const fixes = [r.fixes ? badge('fixed', `${count(r.fixes)} mended`) : null, r.problems ? badge('bad', `${count(r.problems)} refused`) : null];
  return [when(r.time), state(r), name(r.model || '(no model)'), calls, fixes, `${brief(r.in)} / ${brief(r.out)}`, took(r.took)];
}

const openReply = r => { location.hash = `#/reply/${encodeURIComponent(r.id)}`; };

export function replies({ get, state: s }) {
  const kind = h('select', { id: 'outcome', change: again }, h('option', { value: '' }, 'All outcomes'), Object.entries(outcomes).map(([v, t]) => h('option', { value: v }, t)));
  kind.value = s.outcome;
  const place = h('div', {});
  let rows = null;
  function again() {
    s.outcome = kind.value;
    const opened = Date.now();
    rows?.close();
    rows = list({ label: 'Replies, the latest first', columns: columnsOf, draw: cells, open: openReply, empty: () => s.outcome || s.model ? empty('No reply fits', 'Choose another time, model or outcome.') : nothing(),
      fetchPage: async (from, n) => {
        const got = await get(`data/replies?${query(s)}&outcome=${s.outcome}&now=${opened}&from=${from}&n=${n}`);
        return got.absent !== undefined ? { total: 0, rows: [] } : got;
      } });
    place.replaceChildren(rows.el);
  }
  again();
  get(`data/overview?${query(s)}`).then(o => { if (o.absent !== undefined) place.replaceChildren(absent(o.absent)); else s.names(o.names); }, () => {});
  return { el: h('div', { class: 'stack' }, h('div', { class: 'line' }, h('label', { for: 'outcome' }, 'Show'), kind), place), close: () => rows?.close() };
}

const KEPT = 60; // requests in the view

export function live({ base, get }) {
  const rows = [];
  let paused = false, waiting = 0, source = null;
  const body = h('ol', { class: 'live' });
  const say = h('p', { class: 'note', role: 'status' }, 'Waiting for requests …');
  const pause = h('button', { type: 'button', 'aria-pressed': 'false', click: toggle }, 'Pause');
  const place = h('div', {}, empty('Quiet', h('span', {}, 'Requests to ', code('bx serve'), ' and questions to ', code('bx'), ' appear here within a second or two.')));

  function toggle() {
    paused = !paused;
    pause.textContent = paused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(paused));
    if (!paused) { waiting = 0; paint(); }
  }

  function item(r) {
    return h('li', {}, h('a', { href: `#/reply/${encodeURIComponent(r.id)}` }, cells(r).map((c, i) => h('span', { class: columnsOf[i].class }, i === 0 ? clock(r.time) : c))));
  }

  function paint() {
    body.replaceChildren(...rows.map(item));
    if (rows.length && !body.isConnected) place.replaceChildren(body);
    const recent = rows.filter(r => Date.now() - r.time < 6e4).length;
    say.textContent = paused ? `Paused; ${plural(waiting, 'request')} since.` : `${plural(recent, 'request')} in the last minute.`;
  }

  get('data/replies?n=20').then(got => {
    if (got.absent !== undefined) { place.replaceChildren(absent(got.absent)); say.textContent = ''; pause.hidden = true; return; }
    rows.push(...got.rows);
    paint();
    source = new EventSource(`${base}live`);
    source.onmessage = e => {
      const r = JSON.parse(e.data);
      if (rows.some(x => x.id === r.id)) return;
      rows.unshift(r);
      rows.length = Math.min(rows.length, KEPT);
      if (paused) waiting++;
      requestAnimationFrame(() => (paused ? (say.textContent = `Paused; ${plural(waiting, 'request')} since.`) : paint()));
    };
    source.addEventListener('trouble', e => { say.textContent = plain(JSON.parse(e.data)); });
    source.onerror = () => { say.textContent = source.readyState === EventSource.CLOSED ? 'The stream ended: load the page again.' : 'The connection broke off; trying again …'; };
  }, e => { say.textContent = plain(e.message); });

  return { el: h('div', { class: 'stack' }, h('div', { class: 'line' }, pause, say), place), close: () => source?.close() };
}

export const reply = ({ get, id }) => loading(() => get(`data/reply?id=${encodeURIComponent(id)}`), r => {
  const fact = (label, value) => value ? [h('dt', {}, label), h('dd', {}, value)] : null;
  const out = [
    h('div', { class: 'card' },
      h('div', { class: 'line title' }, h('h2', {}, name(r.model || '(no model)')), state(r), r.why ? h('span', { class: 'note' }, why(r.why)) : null),
      h('dl', { class: 'facts' },
        fact('Time', `${new Date(r.time).toLocaleString('en-GB')}`), fact('By', r.by === 'serve' ? 'bx serve' : plain(r.by)), fact('Client', r.client ? name(r.client) : null),
        fact('APIs', r.api || r.speaks ? `${plain(r.api || 'bx')} → ${plain(r.speaks)}` : null), fact('Server', r.backend ? name(r.backend) : null),
        fact('Answered as', r.answered && r.answered !== r.model ? name(r.answered) : null), fact('Took', `${took(r.took)}${r.first ? `, first byte after ${took(r.first)}` : ''}`),
        fact('Tokens', `${count(r.in)} in, ${count(r.out)} out`), fact('Tools', r.offered ? `${plural(r.offered, 'tool')} offered, told as ${plain(r.form || 'native')}` : 'none offered'),
        fact('Why so', r.form_why ? plain(r.form_why) : null), fact('Ended', r.stop ? plain(r.stop).replaceAll('_', ' ') : null), fact('Asked again', r.again ? plain(r.again) : null))),
  ];
  if (r.read) {
    const e = explained(r.read, 3);
    out.push(h('div', { class: 'card' }, h('h2', {}, 'What the model wrote'), h('p', { class: 'summary' }, summary(r.read)), r.cut ? h('p', { class: 'note' }, 'The text was longer than what is kept; its end is missing.') : null, e.el));
    if (r.request) out.push(h('details', { class: 'card' }, h('summary', {}, h('h2', {}, 'The request')), h('pre', { class: 'json', tabindex: 0, 'aria-label': 'The request' }, pretty(r.request))));
  } else {
    out.push(h('div', { class: 'card quiet' }, h('h2', {}, 'What the model wrote'), h('p', {}, plain(r.nothing) || 'The text of replies is not kept.')));
  }
  out.push(h('div', { class: 'grid' },
    card('Calls', r.made.length ? h('ul', { class: 'found' }, r.made.map(made)) : h('p', { class: 'none' }, 'No calls.')),
    card('Refused and broken', r.broken.length ? h('ul', { class: 'found' }, r.broken.map(b => h('li', { class: 'call problem' }, h('header', {}, h('h3', {}, b.name ? name(b.name) : 'No name'), badge('bad', plain(b.kind).replaceAll('_', ' '))),
      h('p', {}, b.why ? plain(b.why) : why(b.kind)), b.dialect ? h('p', { class: 'note' }, 'dialect ', code(plain(b.dialect))) : null))) : h('p', { class: 'none' }, 'Every call could be read.')),
    card('Lost on the way', bars(r.lost, { empty: 'Everything that was asked for could be passed on.' }))));
  return out;
});

function made(c) {
  const kind = c.invented ? ['bad', 'not offered'] : c.invalid ? ['bad', 'does not fit its tool'] : c.guessed ? ['bad', 'a guess'] : (c.fixes || []).length ? ['fixed', 'mended'] : ['good', 'as written'];
  return h('li', { class: 'call' }, h('header', {}, h('h3', {}, name(c.name)), badge(...kind)),
    h('p', { class: 'note' }, c.source === 'native' ? 'a native call' : ['dialect ', code(plain(c.source))], c.took ? `, ran for ${took(c.took)}` : null, c.outcome ? `, ${plain(c.outcome)}` : null),
    (c.fixes || []).length ? h('ul', { class: 'fixes' }, c.fixes.map(f => h('li', {}, h('b', {}, plain(f))))) : null,
    c.refusal ? h('p', { class: 'bad' }, `It did not run: ${plain(c.refusal)}`) : null);
}

function pretty(s) {
  try { return shown(JSON.stringify(JSON.parse(s), null, 2)); } catch { return shown(s); }
}
