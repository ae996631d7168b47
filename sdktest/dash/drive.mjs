// Drives the dashboard in a real Chromium. The test TestBrowser of package dash
// starts it, with what it needs as JSON on standard input; a line FAIL is a failure.
import { chromium } from 'playwright-core';
import { readFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const given = JSON.parse(readFileSync(0, 'utf8'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const program = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(p => p && existsSync(p));
if (!program) { console.log('FAIL no Chromium: install Debian’s chromium, or name one with CHROMIUM'); process.exit(0); }

let failures = 0;
const check = (ok, what) => { if (!ok) { failures++; console.log('FAIL ' + what); } };
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-background-networking', '--no-first-run'] });
console.log(`chromium ${browser.version()}`);

// open gives a page that is signed in. Whatever it asks of others, and whatever
// it runs or says on its console as an error, is a failure.
async function open(world, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage(), base = given.urls[world];
  page.on('request', r => check(r.url().startsWith(base) || r.url().startsWith('data:') || r.url().startsWith('blob:'), `${world}: a request leaves: ${r.url().slice(0, 200)}`));
  page.on('pageerror', e => check(false, `${world}: ${page.url()}: ${e.stack || e.message}`));
  page.on('console', m => check(m.type() !== 'error', `${world}: ${page.url()}: console: ${m.text()}`));
  page.on('dialog', d => { check(false, `${world}: a dialog: ${d.message()}`); d.dismiss(); });
  page.on('popup', () => check(false, `${world}: a window opens`));
  await page.goto(base + '/ui/');
  await page.fill('#key', given.key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#nav a');
  return { page, base, close: () => context.close() };
}

const idle = page => page.waitForFunction(() => !document.querySelector('[aria-busy]') && !document.querySelector('.row.wait'), null, { timeout: 30000 });
async function view(page, base, name) {
  await page.evaluate(hash => { location.hash = hash; }, '#/' + name);
  await page.waitForFunction(h => document.querySelector('main h1') && location.hash === h, '#/' + name);
  if (name === 'live') await page.waitForFunction(() => document.querySelector('.live li') || document.querySelector('.empty'));
  if (name === 'replies') await page.waitForFunction(() => document.querySelector('.space .row:not(.wait)') || document.querySelector('.empty'), null, { timeout: 30000 });
  await idle(page);
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const views = ['overview', 'live', 'replies', 'tools', 'usage', 'read'];
const cluttered = page => page.evaluate(() => ({ over: document.documentElement.scrollWidth - innerWidth, rows: document.querySelectorAll('.row, .live li').length }));

async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  for (const v of found.violations) check(false, `${what}: axe: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + (n.any[0]?.message || '')).join(' | ')}`);
}

// Every view, both themes, with and without anything in the store, wide and narrow.
async function everyView() {
  for (const world of ['busy', 'empty']) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [tag, viewport] of [['', { width: 1280, height: 900 }], ['-phone', { width: 380, height: 800 }]]) {
        const { page, base, close } = await open(world, { colorScheme, viewport });
        for (const name of [...views, ...(world === 'busy' ? [`reply/${given.sample}`] : [])]) {
          await view(page, base, name);
          if (name === 'read') {
            await page.selectOption('#example', '0');
            await page.waitForSelector('.call');
            await page.evaluate(() => document.activeElement.blur());
          }
          const what = `${world} ${name.split('/')[0]} ${colorScheme}${tag}`, { over, rows } = await cluttered(page);
          check(over <= 0, `${what}: ${over} pixels wider than the window`);
          check(rows <= 101, `${what}: ${rows} rows in the page`);
          await accessible(page, what);
          if (given.shots && (world === 'busy' || name === 'overview') && (colorScheme === 'light' || name === 'overview' || name === 'read'))
            await page.screenshot({ path: `${given.shots}/${world === 'empty' ? 'empty-' : ''}${name.split('/')[0]}-${colorScheme}${tag}.png` });
        }
        await close();
      }
    }
  }
  // the page to sign in at
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme }), page = await context.newPage();
    await page.goto(given.urls.busy + '/ui/');
    await page.waitForSelector('#key:visible');
    await accessible(page, `sign in, ${colorScheme}`);
    await context.close();
  }
}

// All of it by the keyboard alone.
async function keyboard() {
  const { page, base, close } = await open('busy');
  const focused = () => page.evaluate(() => { const e = document.activeElement; return (e.id || e.getAttribute('href') || e.className || e.tagName) + ''; });
  await page.keyboard.press('Tab');
  check(await focused() === 'skip', `the first Tab leads to ${await focused()}`);
  for (let i = 0; i < views.length; i++) {
    await page.keyboard.press('Tab');
    check(await focused() === '#/' + views[i], `Tab ${i + 2} leads to ${await focused()}`);
  }
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.space .row:not(.wait)');
  check(await focused() === 'main', `behind a link the focus is at ${await focused()}`);
  for (let i = 0; i < 20 && await focused() !== 'list'; i++) await page.keyboard.press('Tab');
  check(await focused() === 'list', 'Tab does not reach the list');
  const active = () => page.evaluate(() => { const row = document.getElementById(document.querySelector('.list').getAttribute('aria-activedescendant')); return row && Number(row.getAttribute('aria-rowindex')) - 2; });
  for (const [key, want] of [['ArrowDown', 1], ['ArrowDown', 2], ['ArrowUp', 1], ['End', 99999], ['PageUp', null], ['Home', 0], ['ArrowDown', 1], ['ArrowDown', 2], ['ArrowDown', 3]]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
    if (want !== null) check(await active() === want, `${key} leads to row ${await active()}, want ${want}`);
  }
  await page.waitForFunction(() => !document.querySelector('.row.wait'));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/reply/'));
  await idle(page);
  check(await page.textContent('h1') === 'Reply', 'Enter opens no reply');
  await page.waitForSelector('.t.marker');
  // the box: typed text, the slider, Play
  await view(page, base, 'read');
  for (let i = 0; i < 20 && await focused() !== 'reply'; i++) await page.keyboard.press('Tab');
  await page.keyboard.type('<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>');
  await page.waitForSelector('.call .fixes li');
  check((await page.textContent('.summary')).includes('1 call (hermes) · 1 fix'), `the summary says ${await page.textContent('.summary')}`);
  for (let i = 0; i < 8 && await focused() !== 'at'; i++) await page.keyboard.press('Tab');
  check(await focused() === 'at', `Tab does not reach the slider but ${await focused()}`);
  await page.keyboard.press('ArrowLeft');
  check(await page.locator('.t.held').count() === 1 && await page.locator('.call').count() === 0, 'a piece of a call that has not ended is not held back');
  check((await page.textContent('.where')).startsWith('59 of 60'), `the slider says ${await page.textContent('.where')}`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.waitForSelector('.call.problem');
  check((await page.textContent('.call.problem')).includes('inside the call'), 'a text that is cut off is not refused');
  await page.keyboard.press('Space');
  await page.waitForSelector('.call:not(.problem)');
  await page.click('text=Play');
  await page.waitForFunction(() => document.querySelector('#at').value === '0' || Number(document.querySelector('#at').value) < 60);
  await page.waitForFunction(() => document.querySelector('#at').value === '60');
  check(await page.locator('.call').count() === 1, 'after Play there is no call');
  // the theme, and the way out
  await page.focus('#theme');
  for (const want of ['light', 'dark', undefined]) {
    await page.keyboard.press('Enter');
    check(await page.evaluate(() => document.documentElement.dataset.theme) === want, `the theme is not ${want}`);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#key:visible');
  await close();
}

// Hostile texts stay texts.
async function hostile() {
  const { page, base, close } = await open('hostile');
  await page.addInitScript(() => { window.pwned = undefined; });
  const whole = async what => {
    const got = await page.evaluate(() => ({ pwned: window.pwned, url: location.href, nav: document.querySelectorAll('#nav a').length, foreign: [...document.querySelectorAll('img, iframe, script:not([type=module]), base, meta[http-equiv], link:not([rel=stylesheet]):not([rel=icon]), style, form, object, embed, [onerror], [onload], [onmouseover], [onfocus], a[href^="javascript"]')].map(e => e.outerHTML.slice(0, 80)),
      over: document.documentElement.scrollWidth - innerWidth, width: document.querySelector('main').getBoundingClientRect().width, side: document.querySelector('.side').getBoundingClientRect().width }));
    check(got.pwned === undefined, `${what}: a script ran`);
    check(got.nav === 6 && got.url.startsWith(base), `${what}: the page is another: ${got.url}`);
    check(got.foreign.length === 0, `${what}: ${got.foreign.join(' ')}`);
    check(got.over <= 0 && got.side < 240 && got.width > 600, `${what}: the layout broke: ${JSON.stringify(got)}`);
  };
  for (const name of views) {
    await view(page, base, name);
    await whole(`hostile ${name}`);
  }
  const rows = await page.evaluate(async () => (await (await fetch('data/replies?n=200')).json()).rows.filter(r => r.id.startsWith('h')).map(r => r.id));
  check(rows.length === given.hostile.length && rows.length >= 100, `${rows.length} hostile replies of ${given.hostile.length}`);
  for (const id of rows) {
    await view(page, base, 'reply/' + encodeURIComponent(id));
    await whole(`hostile reply ${JSON.stringify(id)}`);
    check(await page.textContent('h1') === 'Reply', `hostile reply ${JSON.stringify(id)}: it is not shown`);
  }
  await view(page, base, 'read');
  for (const text of given.hostile) {
    await page.fill('#reply', text);
    await page.fill('#model', text.replaceAll('\n', ' '), { force: true }).catch(() => {});
    await page.evaluate(async () => { document.querySelector('#reply').dispatchEvent(new Event('input')); await new Promise(r => setTimeout(r, 260)); });
    await page.waitForFunction(() => document.querySelector('.raw, .empty'));
    await whole(`hostile text ${JSON.stringify(text.slice(0, 40))}`);
  }
  await page.evaluate(() => { location.hash = '#/<img src=x onerror=window.pwned=1>'; });
  await page.waitForFunction(() => document.querySelector('h1').textContent === 'Overview');
  await whole('a hostile address');
  await close();
  const narrow = await open('hostile', { viewport: { width: 380, height: 800 } });
  for (const name of [...views, ...rows.slice(0, 120).filter((_, i) => i % 7 === 0).map(id => 'reply/' + encodeURIComponent(id))]) {
    await view(narrow.page, narrow.base, name);
    const { over } = await cluttered(narrow.page);
    check(over <= 0, `hostile ${name} on a phone: ${over} pixels too wide`);
  }
  await narrow.close();
}

// New replies arrive without a reload, also while the view is paused.
async function live() {
  const { page, base, close } = await open('busy');
  await view(page, base, 'live');
  const first = () => page.getAttribute('.live a', 'href');
  const before = await first();
  await page.waitForTimeout(1500);
  await page.evaluate(() => fetch('/test/arrive', { method: 'POST' }));
  await page.waitForFunction(b => document.querySelector('.live a').getAttribute('href') !== b, before, { timeout: 8000 });
  await page.click('text=Pause');
  const paused = await first();
  await page.evaluate(() => fetch('/test/arrive', { method: 'POST' }));
  await page.waitForFunction(() => /Paused; 1 request/.test(document.querySelector('main [role=status]').textContent), null, { timeout: 8000 });
  check(await first() === paused, 'a paused view goes on');
  await page.click('text=Go on');
  check(await first() !== paused, 'what came meanwhile is missing');
  await close();
}

// 100,000 replies: at most 100 rows in the page wherever it is scrolled to.
async function many() {
  const { page, base, close } = await open('busy');
  await view(page, base, 'replies');
  const got = await page.evaluate(async () => {
    const list = document.querySelector('.list'), gaps = [];
    let most = 0, last = performance.now();
    for (let i = 0; i <= 240; i++) {
      list.scrollTop = i < 200 ? i * 300 : (i - 200) / 40 * list.scrollHeight;
      await new Promise(requestAnimationFrame);
      const t = performance.now();
      gaps.push(t - last);
      last = t;
      most = Math.max(most, document.querySelectorAll('.row').length);
    }
    gaps.sort((a, b) => a - b);
    return { most, frames: gaps.length, p50: gaps[Math.floor(gaps.length / 2)], p95: gaps[Math.floor(gaps.length * 0.95)], worst: gaps.at(-1), all: document.querySelector('.list').getAttribute('aria-rowcount') };
  });
  check(got.most <= 100, `${got.most} rows in the page`);
  check(Number(got.all) >= 100001, `the list says it has ${got.all} rows`);
  await idle(page);
  check(await page.locator('.row.wait').count() === 0, 'rows are missing at the end');
  if (given.figures) {
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    const fresh = await open('busy');
    await fresh.page.reload();
    await fresh.page.waitForSelector('.tiles');
    const first = await fresh.page.evaluate(() => ({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, done: performance.now(), bytes: performance.getEntriesByType('resource').filter(r => !r.name.includes('data/')).reduce((n, r) => n + r.decodedBodySize, 0) }));
    console.log(`frames: ${got.frames} while scrolling through 100,000 replies, median ${got.p50.toFixed(1)} ms, 95 % within ${got.p95.toFixed(1)} ms, longest ${got.worst.toFixed(1)} ms`);
    console.log(`first paint ${first.paint?.toFixed(0)} ms (signed in: ${paint?.toFixed(0)} ms), figures of 100,000 replies on the page after ${first.done.toFixed(0)} ms, ${first.bytes} bytes of scripts and styles`);
    await fresh.close();
  }
  await close();
}

// The views over a real store: the page asks for every range, and shows what is there.
async function store() {
  for (const colorScheme of ['light', 'dark']) {
    const { page, base, close } = await open('store', { colorScheme });
    for (const name of ['overview', 'live', 'replies', 'tools', 'usage', `reply/${given.sample}`]) {
      await view(page, base, name);
      const what = `store ${name} ${colorScheme}`, { over, rows } = await cluttered(page);
      check(over <= 0, `${what}: ${over} pixels wider than the window`);
      check(rows <= 101, `${what}: ${rows} rows in the page`);
      await accessible(page, what);
    }
    check((await page.locator('main').innerText()).includes('<tool_call>'), 'the raw text of the reply is missing');
    await view(page, base, 'tools');
    check(/shell/.test(await page.locator('main').innerText()), 'the tool that bx ran is missing');
    for (const since of ['1h', '24h', '7d', '30d', '90d']) {
      await view(page, base, 'overview');
      await page.click(`[data-since="${since}"]`);
      await idle(page);
      check((await page.locator('main').innerText()).includes('qwen3'), `the model is missing in ${since}`);
    }
    if (given.shots) await page.screenshot({ path: `${given.shots}/store-${colorScheme}.png` });
    await close();
  }
}

const parts = given.urls.store ? { store } : { everyView, keyboard, hostile, live, many };
for (const [name, part] of Object.entries(given.figures ? { many } : parts)) {
  const began = Date.now();
  try { await part(); } catch (e) { check(false, `${name}: ${e.message.split('\n').slice(0, 6).join(' ')}`); }
  console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
await browser.close();
console.log(failures ? `${failures} failures` : 'all of it holds');
