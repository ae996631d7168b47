// The page: its views by the part of the address behind the #.
import { h, svg, plain, name } from './dom.js';
import { reader } from './reader.js';
import * as views from './views.js';

const base = new URL('.', location.href).pathname;
const icons = {
  overview: 'M3 13h4v5H3zM8.5 8h4v10h-4zM14 3h4v15h-4z', live: 'M2 11h4l2.5-7 4 13 2.5-6h4', replies: 'M3 5h15M3 10.5h15M3 16h15',
  tools: 'M13.5 3.5a4.5 4.5 0 0 0-5.7 5.7L3 14v3.5h3.5l4.8-4.8a4.5 4.5 0 0 0 5.7-5.7l-2.7 2.7-2.5-2.5z', usage: 'M10.5 3a7.5 7.5 0 1 0 7.5 7.5h-7.5zM13.5 2.5v5h5', read: 'M4 3.5h9l4 4v10.5H4zM7 10h7M7 13.5h7',
};
const all = [['overview', 'Overview'], ['live', 'Live'], ['replies', 'Replies'], ['tools', 'Tools'], ['usage', 'Usage'], ['read', 'Read']];
const ranges = { '1h': 'hour', '24h': 'day', '7d': 'week', '30d': 'month', '90d': '90 days' };
const timed = new Set(['overview', 'replies', 'tools', 'usage']);
const about = {
  overview: 'How well models call tools, and what it took to read them.', live: 'Requests as they are answered.', replies: 'Every reply, the latest first.',
  tools: 'How long the tools of bx take.', usage: 'Tokens and money.', read: 'Paste a reply, and see what the parser makes of it.', reply: 'One reply, with all that is known of it.',
};

const main = document.getElementById('main'), tell = document.getElementById('tell');
const state = { since: '7d', model: '', outcome: '', known: [], names(list) { if (String(list) !== String(this.known)) { this.known = list; fillModels(); } } };
const models = h('select', { id: 'models', change: () => { state.model = models.value; draw(); } });
const times = h('div', { class: 'segments', role: 'group', 'aria-label': 'Time' }, Object.entries(ranges).map(([v, t]) =>
  h('button', { type: 'button', 'data-since': v, click: () => { state.since = v; mark(); draw(); } }, t)));
const filters = h('div', { class: 'line filters' }, times, h('label', { for: 'models', class: 'hidden' }, 'Model'), models);

function mark() { for (const b of times.children) b.setAttribute('aria-pressed', String(b.dataset.since === state.since)); }

function fillModels() {
  models.replaceChildren(h('option', { value: '' }, 'All models'), ...state.known.map(n => h('option', { value: n }, plain(n))));
  models.value = state.known.includes(state.model) ? state.model : '';
}

async function call(path, options) {
  const r = await fetch(base + path, options);
  if (r.status === 401) { location.replace(base); throw new Error('Signed out.'); }
  if (r.status === 204) return null;
  const j = await r.json().catch(() => ({}));
  if (!r.ok) throw new Error(j.error || `The server answered ${r.status}.`);
  return j;
}

const post = (path, body) => call(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

let now = null, box = null;

function open(view, id) {
  const given = { get: path => call(path), base, state, id };
  if (view === 'read') return reader({ ask: what => post('read', what) });
  if (view === 'reply') return views.reply(given);
  return views[view](given);
}

// draw shows the view again with other filters.
function draw() {
  now?.close();
  const [view, id] = where();
  now = open(view, id);
  box.replaceChildren(now.el);
}

function where() {
  const [view, id] = location.hash.replace(/^#\/?/, '').split('/');
  return view === 'reply' && id ? [view, decodeURIComponent(id)] : [all.some(([v]) => v === view) ? view : 'overview', ''];
}

function route(first) {
  const [view] = where(), title = view === 'reply' ? 'Reply' : all.find(([v]) => v === view)[1];
  document.title = `${title} · bx dashboard`;
  for (const a of document.querySelectorAll('#nav a')) {
    if (a.dataset.view === view || view === 'reply' && a.dataset.view === 'replies') a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  box = h('div', { class: 'box' });
  main.replaceChildren(h('div', { class: 'head' },
    h('div', {}, view === 'reply' ? h('a', { class: 'back', href: '#/replies' }, '← Replies') : null, h('h1', {}, title), h('p', { class: 'note' }, about[view])),
    timed.has(view) ? filters : null), box);
  draw();
  if (first !== true) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
    tell.textContent = title;
  }
}

// The theme is that of the system until another is chosen.
const themes = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' };
const theme = document.getElementById('theme');
function paintTheme(t) {
  if (t === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = t;
  theme.textContent = themes[t];
}
const chosen = () => themes[localStorage.getItem('theme')] ? localStorage.getItem('theme') : 'auto';
theme.addEventListener('click', () => {
  const names = Object.keys(themes), next = names[(names.indexOf(chosen()) + 1) % names.length];
  localStorage.setItem('theme', next);
  paintTheme(next);
});
paintTheme(chosen());

document.getElementById('logout').addEventListener('click', () => post('logout', {}).finally(() => location.replace(base)));
document.getElementById('skip').addEventListener('click', e => { e.preventDefault(); main.focus(); });
document.getElementById('nav').append(...all.map(([view, title]) => h('li', {}, h('a', { href: `#/${view}`, 'data-view': view },
  svg('svg', { viewBox: '0 0 21 21', width: 20, height: 20, 'aria-hidden': 'true' }, svg('path', { d: icons[view] })), h('span', {}, title)))));
mark();
fillModels();
addEventListener('hashchange', route);
route(true);
