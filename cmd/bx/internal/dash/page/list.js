// A list of any length with at most 100 rows in the page.
import { h } from './dom.js';

const PAGE = 100;    // rows that are asked for at once
const KEPT = 40;     // pages that are remembered
const AROUND = 8;    // rows above and below what is seen
const MOST = 100;    // rows in the page

// list shows rows of one height. fetchPage(from, n) gives {total, rows}, draw(row)
// an array of cells, open(row) is what Enter and a click do.
export function list({ label, columns, fetchPage, draw, open, empty }) {
  const pages = new Map(), asked = new Set();
  let total = 0, first = true, active = 0, height = 44, alive = true;
  const body = h('div', { class: 'space', role: 'rowgroup' });
  const head = h('div', { class: 'row head', role: 'row', 'aria-rowindex': 1 }, columns.map(c => h('span', { role: 'columnheader', class: c.class }, c.name)));
  const el = h('div', { class: 'list', role: 'grid', tabindex: 0, 'aria-label': label, 'aria-rowcount': -1, keydown: keys }, h('div', { role: 'rowgroup', class: 'top' }, head), body);
  const nothing = h('div', { hidden: true });
  const box = h('div', {}, el, nothing);
  el.addEventListener('scroll', () => requestAnimationFrame(paint), { passive: true });
  const sized = new ResizeObserver(() => { measure(); paint(); });
  sized.observe(el);

  const seen = () => el.clientHeight - head.offsetHeight; // of the rows

  function measure() { height = parseFloat(getComputedStyle(el).getPropertyValue('--row')) || 44; }

  async function need(page) {
    if (pages.has(page) || asked.has(page)) return;
    asked.add(page);
    try {
      const got = await fetchPage(page * PAGE, PAGE);
      if (!alive) return;
      pages.set(page, got.rows || []);
      const end = page * PAGE + pages.get(page).length;
      if (pages.get(page).length < PAGE) got.total = Math.min(got.total, end); // some are gone
      if (pages.size > KEPT) pages.delete(pages.keys().next().value);
      if (got.total !== total || first) {
        total = got.total;
        first = false;
        el.setAttribute('aria-rowcount', total + 1);
        el.hidden = total === 0;
        nothing.hidden = total > 0;
        if (total === 0) nothing.replaceChildren(empty());
      }
      paint();
    } finally {
      asked.delete(page);
    }
  }

  // Rows keep their element while they are seen, so that a click finds them.
  const drawn = new Map();
  function paint() {
    if (!alive || total === 0) return;
    body.style.height = `${total * height}px`;
    const room = Math.ceil(seen() / height) || 1;
    const from = Math.max(0, Math.floor(el.scrollTop / height) - AROUND);
    const to = Math.min(total, from + Math.min(MOST, room + 2 * AROUND));
    for (const [i, row] of drawn) if (i < from || i >= to) { row.el.remove(); drawn.delete(i); }
    for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(0, to - 1) / PAGE); page++) need(page);
    for (let i = from; i < to; i++) {
      const data = pages.get(Math.floor(i / PAGE))?.[i % PAGE];
      const was = drawn.get(i);
      if (was && was.data === data) { was.el.style.transform = `translateY(${i * height}px)`; continue; }
      was?.el.remove();
      const row = h('div', { class: data ? 'row' : 'row wait', role: 'row', id: `row-${i}`, 'aria-rowindex': i + 2, 'aria-selected': i === active ? 'true' : 'false',
        click: () => { choose(i); go(); } },
        data ? draw(data).map((cell, c) => h('span', { role: 'gridcell', class: columns[c].class }, cell)) : h('span', { role: 'gridcell' }, '…'));
      row.style.transform = `translateY(${i * height}px)`;
      body.append(row);
      drawn.set(i, { el: row, data });
    }
    if (drawn.has(active)) el.setAttribute('aria-activedescendant', `row-${active}`);
    else el.removeAttribute('aria-activedescendant');
  }

  function choose(i) {
    drawn.get(active)?.el.setAttribute('aria-selected', 'false');
    active = Math.max(0, Math.min(total - 1, i));
    const top = active * height;
    if (top < el.scrollTop) el.scrollTop = top;
    else if (top + height > el.scrollTop + seen()) el.scrollTop = top + height - seen();
    paint();
    drawn.get(active)?.el.setAttribute('aria-selected', 'true');
  }

  function go() {
    const data = drawn.get(active)?.data;
    if (data) open(data);
  }

  function keys(e) {
    const room = Math.max(1, Math.floor(seen() / height) - 1);
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + room, PageUp: active - room, Home: 0, End: total - 1 }[e.key];
    if (to !== undefined) choose(to);
    else if (e.key === 'Enter') go();
    else return;
    e.preventDefault();
  }

  measure();
  need(0);
  return { el: box, close() { alive = false; sized.disconnect(); } };
}
