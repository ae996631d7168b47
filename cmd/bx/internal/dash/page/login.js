// Signs in with the operator's key, or with the token behind the # of a link.
const form = document.getElementById('form'), say = document.getElementById('say');

async function signIn(what) {
  say.textContent = '';
  const r = await fetch('login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(what) });
  if (r.ok) {
    location.replace('/ui/');
    return;
  }
  const j = await r.json().catch(() => ({}));
  say.textContent = j.error || `The server answered ${r.status}.`;
}

const session = () => fetch('session').then(r => r.json());

// The cookie does not go along when another page or a terminal led here; it
// does from here on.
async function begin() {
  const token = /^#[A-Z2-7]{16,}$/.test(location.hash) ? location.hash.slice(1) : '';
  if (location.hash) history.replaceState(null, '', '/ui/');
  let s = await session();
  if (!s.open && token) {
    await signIn({ token });
    s = await session();
  }
  if (s.open) {
    location.replace('/ui/');
    return;
  }
  form.hidden = !s.key;
  document.getElementById('link').hidden = s.key;
  if (s.key) document.getElementById('key').focus();
}

form.addEventListener('submit', e => {
  e.preventDefault();
  signIn({ key: document.getElementById('key').value }).catch(fail);
});

function fail(e) { say.textContent = `The server cannot be reached: ${e.message}.`; }

begin().catch(fail);
