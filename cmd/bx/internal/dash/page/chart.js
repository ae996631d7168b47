// Drawings as SVG, each with its figures as a table for those who do not see it.
import { h, svg, plain, name, count, brief, percent, day, clock } from './dom.js';

export const MOST = 6; // series with a colour of their own

// fitted draws again whenever its width changes. draw(width) gives an element.
function fitted(draw, height) {
  const el = h('div', { class: 'plot' });
  el.style.minHeight = `${height}px`;
  let last = 0;
  new ResizeObserver(([e]) => {
    const width = Math.floor(e.contentRect.width);
    if (width && width !== last) { last = width; el.replaceChildren(draw(width)); }
  }).observe(el);
  return el;
}

// asTable holds the figures of a drawing.
export function asTable(label, heads, rows) {
  return h('details', { class: 'figures' }, h('summary', {}, 'Figures as a table'),
    h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': label }, h('table', {}, h('caption', { class: 'hidden' }, label),
      h('thead', {}, h('tr', {}, heads.map(t => h('th', { scope: 'col' }, plain(t))))),
      h('tbody', {}, rows.map(r => h('tr', {}, r.map((c, i) => h(i ? 'td' : 'th', i ? {} : { scope: 'row' }, c))))))));
}

const stamp = (seconds, width) => width < 86400 ? `${day(seconds * 1000)} ${clock(seconds * 1000).slice(0, 5)}` : day(seconds * 1000);

// marks are where an axis of time is labelled: at hours, or where a day begins.
function marks(starts, room) {
  const hours = starts.at(-1) - starts[0] < 2 * 86400;
  const text = starts.map(s => hours ? clock(s * 1000).slice(0, 5) : day(s * 1000));
  const first = starts.map((_, i) => i).filter(i => i === 0 || text[i] !== text[i - 1]);
  const step = Math.max(1, Math.ceil(first.length / Math.max(2, Math.floor(room / 92))));
  return first.filter((_, n) => n % step === 0).map(i => [i, text[i]]);
}

const anchor = (i, all) => i === 0 ? 'start' : i === all - 1 ? 'end' : 'middle';

// success draws the share of good replies over time, a line a model.
export function success(o) {
  const series = o.models.slice(0, MOST), H = 232, left = 48, right = 12, top = 10, bottom = 26;
  const share = (s, i) => s.good[i] + s.bad[i] ? s.good[i] / (s.good[i] + s.bad[i]) : null;
  const all = series.flatMap(s => o.starts.map((_, i) => share(s, i))).filter(x => x !== null);
  const low = all.length ? Math.max(0, Math.floor((Math.min(...all) - 0.02) * 20) / 20) : 0;
  const plot = fitted(W => {
    const x = i => left + (o.starts.length < 2 ? 0.5 : i / (o.starts.length - 1)) * (W - left - right);
    const y = v => top + (1 - (v - low) / (1 - low || 1)) * (H - top - bottom);
    const lines = [low, low + (1 - low) / 2, 1];
    const out = svg('svg', { width: W, height: H, role: 'img', 'aria-label': 'Share of good replies over time, a line for each model. The figures stand in the table below.' },
      lines.map(v => [svg('line', { class: 'grid', x1: left, x2: W - right, y1: y(v), y2: y(v) }), svg('text', { class: 'axis', x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, percent(v))]),
      marks(o.starts, W).map(([i, t]) => svg('text', { class: 'axis', x: x(i), y: H - 6, 'text-anchor': anchor(i, o.starts.length) }, t)));
    series.forEach((s, n) => {
      let path = '', was = false;
      const dots = [];
      o.starts.forEach((_, i) => {
        const v = share(s, i);
        if (v === null) return;
        path += `${was ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
        was = true;
        dots.push(svg('circle', { class: `dot s${n}`, cx: x(i), cy: y(v), r: 3 }, svg('title', {}, `${plain(s.name)}, ${stamp(o.starts[i], o.width)}: ${percent(v)} of ${s.good[i] + s.bad[i]}`)));
      });
      out.append(svg('path', { class: `line s${n}`, d: path }), ...dots);
    });
    return out;
  }, H);
  const legend = h('ul', { class: 'legend' }, series.map((s, n) => h('li', {}, h('span', { class: `key s${n}`, 'aria-hidden': 'true' }), name(s.name))));
  const more = o.models.length - series.length;
  if (more > 0) legend.append(h('li', { class: 'note' }, `and ${more} more in the table of models`));
  return h('div', {}, legend, plot, asTable('Share of good replies over time', ['From', ...series.map(s => s.name)],
    o.starts.map((t, i) => [stamp(t, o.width), ...series.map(s => { const v = share(s, i); return v === null ? '–' : `${percent(v)} of ${s.good[i] + s.bad[i]}`; })])));
}

// round is the next round number.
function round(n) {
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 6, 8, 10].find(k => k * unit >= n) * unit;
}

// columns draws two figures over time, one on the other.
export function columns(o, names, of) {
  const H = 200, left = 48, right = 8, top = 10, bottom = 26;
  const sums = o.starts.map((_, i) => of(i)), most = round(Math.max(2, ...sums.map(([a, b]) => a + b)));
  const plot = fitted(W => {
    const step = (W - left - right) / o.starts.length, y = v => (v / most) * (H - top - bottom);
    return svg('svg', { width: W, height: H, role: 'img', 'aria-label': `${names.join(' and ')} over time. The figures stand in the table below.` },
      [0, 0.5, 1].map(v => [svg('line', { class: 'grid', x1: left, x2: W - right, y1: H - bottom - y(v * most), y2: H - bottom - y(v * most) }),
        svg('text', { class: 'axis', x: left - 8, y: H - bottom - y(v * most) + 4, 'text-anchor': 'end' }, brief(Math.round(v * most)))]),
      marks(o.starts, W).map(([i, t]) => svg('text', { class: 'axis', x: left + (i + 0.5) * step, y: H - 6, 'text-anchor': anchor(i, o.starts.length) }, t)),
      sums.map(([a, b], i) => svg('g', {}, svg('title', {}, `${stamp(o.starts[i], o.width)}: ${count(a)} ${names[0]}, ${count(b)} ${names[1]}`),
        svg('rect', { class: 'col s0', x: left + i * step + 1, width: Math.max(1, step - 2), y: H - bottom - y(a), height: y(a) }),
        svg('rect', { class: 'col s1', x: left + i * step + 1, width: Math.max(1, step - 2), y: H - bottom - y(a + b), height: y(b) }))));
  }, H);
  return h('div', {}, h('ul', { class: 'legend' }, names.map((n, i) => h('li', {}, h('span', { class: `key s${i}`, 'aria-hidden': 'true' }), n))), plot,
    asTable(`${names.join(' and ')} over time`, ['From', ...names], o.starts.map((t, i) => [stamp(t, o.width), ...sums[i].map(count)])));
}

// bars lists counts, the share of bad ones marked.
export function bars(list, { most = 8, empty, what }) {
  if (!list.length) return h('p', { class: 'none' }, empty);
  const top = Math.max(...list.map(c => c.count)), sum = list.reduce((n, c) => n + c.count, 0);
  const out = h('ul', { class: 'bars' }, list.slice(0, most).map(c => {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' }), good = h('span', { class: 'fill' }), bad = h('span', { class: 'fill bad' });
    good.style.width = `${(c.count - (c.bad || 0)) / top * 100}%`;
    bad.style.width = `${(c.bad || 0) / top * 100}%`;
    bar.append(good, bad);
    return h('li', {}, name(c.name), bar, h('span', { class: 'n' }, count(c.count), h('span', { class: 'share' }, percent(c.count / sum))),
      c.bad ? h('span', { class: 'hidden' }, `, ${count(c.bad)} of them ${what || 'bad'}`) : null);
  }));
  const rest = list.slice(most);
  if (rest.length) out.append(h('li', { class: 'note' }, `and ${rest.length} more (${count(rest.reduce((n, c) => n + c.count, 0))})`));
  return out;
}

// interval draws a share and how sure it is, on a rail from a share on.
export function interval(t, from) {
  const n = t.good + t.bad;
  if (!n) return h('span', { class: 'note' }, 'none yet');
  const v = t.good / n, W = 132, x = share => 5 + Math.max(0, (share - from) / (1 - from || 1)) * (W - 10);
  return h('span', { class: 'interval' }, h('b', {}, percent(v)),
    svg('svg', { width: W, height: 14, 'aria-hidden': 'true' },
      svg('line', { class: 'rail', x1: 0, x2: W, y1: 7, y2: 7 }), svg('line', { class: 'sure', x1: x(t.low), x2: Math.max(x(t.low) + 1, x(t.high)), y1: 7, y2: 7 }),
      svg('circle', { class: 'point', cx: x(v), cy: 7, r: 3 })),
    h('span', { class: 'note' }, `${percent(t.low)} – ${percent(t.high)}`));
}
