package dash_test

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

const operator = "bx-operator"

func config() dash.Config {
	return dash.Config{Key: sha256.Sum256([]byte(operator)), Now: func() time.Time { return now }, Absent: "nothing is kept", Reader: explain}
}

// explain is how bx reads.
func explain(p dash.Pasted) (any, error) {
	o := reading.Options{Replies: func(tools []utp.Tool) reading.Replies { return envelope.New(tools) }, Cut: p.Cut}
	var err error
	if p.Tools != "" {
		o.Tools, err = reading.ParseTools([]byte(p.Tools))
	}
	if err != nil {
		return nil, err
	}
	return reading.Explain(o, p.Text)
}

// browser asks as a browser does: with a cookie, and with what it says of where
// a request comes from.
type browser struct {
	t      *testing.T
	d      *dash.Dash
	cookie *http.Cookie
}

func (b *browser) ask(method, path, body string, head ...string) *http.Response {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:4142"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(head); i += 2 {
		if head[i] == "Host" {
			r.Host = head[i+1]
			continue
		}
		r.Header.Set(head[i], head[i+1])
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.d.ServeHTTP(w, r)
	return w.Result()
}

func (b *browser) signIn(what string, head ...string) *http.Response {
	b.t.Helper()
	r := b.ask("POST", "/ui/login", what, head...)
	for _, c := range r.Cookies() {
		b.cookie = c
	}
	return r
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// data are the paths that show something.
var data = []string{"/ui/data/overview", "/ui/data/replies", "/ui/data/reply?id=a", "/ui/live", "/ui/app.js", "/ui/views.js", "/ui/nothing"}

func TestOnlyTheOperatorGetsIn(t *testing.T) {
	b := &browser{t: t, d: dash.New(config())}
	for _, path := range data {
		if r := b.ask("GET", path, ""); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a key: %s: %s", path, r.Status)
		}
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if r := b.ask("GET", path, "", name, "Bearer "+operator); r.StatusCode != http.StatusUnauthorized {
				t.Errorf("a key in %s: %s: %s", name, path, r.Status)
			}
		}
	}
	if r := b.ask("POST", "/ui/read", `{"text":"x"}`); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("read without a key: %s", r.Status)
	}
	if page := text(t, b.ask("GET", "/ui/", "")); !strings.Contains(page, "login.js") || strings.Contains(page, "app.js") {
		t.Errorf("without a key the page is %s", page)
	}
	for _, body := range []string{`{"key":"bx-client"}`, `{"key":""}`, `{"token":""}`, `{"token":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, `{}`} {
		if r := b.signIn(body); r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) > 0 {
			t.Errorf("%s: %s, cookies %v", body, r.Status, r.Cookies())
		}
	}
	if r := b.signIn(`{"key":"` + operator + `"}`); r.StatusCode != http.StatusNoContent {
		t.Fatalf("the operator's key: %s", r.Status)
	}
	if c := b.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/ui" || c.MaxAge != 12*60*60 || c.Secure || c.Domain != "" {
		t.Errorf("the cookie is %v", c)
	}
	if r := b.ask("GET", "/ui/app.js", ""); r.StatusCode != http.StatusOK {
		t.Errorf("with a session: %s", r.Status)
	}
	if r := b.ask("POST", "/ui/logout", "{}"); r.StatusCode != http.StatusNoContent {
		t.Errorf("logout: %s", r.Status)
	}
	if r := b.ask("GET", "/ui/app.js", ""); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the logout: %s", r.Status)
	}
}

func TestNoKeyIsNoKey(t *testing.T) {
	c := config()
	c.Key = [sha256.Size]byte{}
	b := &browser{t: t, d: dash.New(c)}
	for _, key := range []string{"", "x"} {
		if r := b.signIn(fmt.Sprintf(`{"key":%q}`, key)); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("key %q: %s", key, r.Status)
		}
	}
}

func TestLinkWorksOnce(t *testing.T) {
	clock := now
	c := config()
	c.Now = func() time.Time { return clock }
	d := dash.New(c)
	base, token, found := strings.Cut(d.Link("http://127.0.0.1:1"), "#")
	if !found || base != "http://127.0.0.1:1/ui/" || !regexp.MustCompile(`^[A-Z2-7]{26}$`).MatchString(token) {
		t.Fatalf("link %s#%s", base, token)
	}
	b := &browser{t: t, d: d}
	if r := b.signIn(`{"token":"` + token + `"}`); r.StatusCode != http.StatusNoContent {
		t.Fatal(r.Status)
	}
	if r := (&browser{t: t, d: d}).signIn(`{"token":"` + token + `"}`); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("the second use: %s", r.Status)
	}
	_, late, _ := strings.Cut(d.Link(""), "#")
	clock = clock.Add(12*time.Hour - time.Second)
	if r := b.ask("GET", "/ui/app.js", ""); r.StatusCode != http.StatusOK {
		t.Errorf("within 12 hours: %s", r.Status)
	}
	if r := (&browser{t: t, d: d}).signIn(`{"token":"` + late + `"}`); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("an old link: %s", r.Status)
	}
	if clock = clock.Add(time.Second); b.ask("GET", "/ui/app.js", "").StatusCode != http.StatusUnauthorized {
		t.Error("a session outlives 12 hours")
	}
}

func TestForeignRequestsGetNothing(t *testing.T) {
	c := config()
	c.Hosts = []string{"*", "ops.example"}
	c.Source = &memory{}
	b := &browser{t: t, d: dash.New(c)}
	b.signIn(`{"key":"` + operator + `"}`)
	for _, of := range []struct {
		name   string
		head   []string
		status int
	}{
		{"as it is", nil, 200},
		{"its own origin", []string{"Origin", "http://127.0.0.1:4142"}, 200},
		{"a name in hosts", []string{"Host", "ops.example", "Origin", "https://ops.example"}, 200},
		{"an address", []string{"Host", "192.0.2.7:4142"}, 200},
		{"typed by hand", []string{"Sec-Fetch-Site", "none"}, 200},
		{"a foreign host", []string{"Host", "evil.example"}, 403},
		{"the host *", []string{"Host", "*"}, 403},
		{"no host", []string{"Host", ""}, 403},
		{"a foreign origin", []string{"Origin", "https://evil.example"}, 403},
		{"another port", []string{"Origin", "http://127.0.0.1:4141"}, 403},
		{"no origin that has a name", []string{"Origin", "null"}, 403},
		{"another site", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another name of the site", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a frame", []string{"Sec-Fetch-Dest", "iframe"}, 403},
		{"an object", []string{"Sec-Fetch-Dest", "object"}, 403},
	} {
		for _, path := range []string{"/ui/data/replies", "/ui/data/overview", "/ui/app.js"} {
			if r := b.ask("GET", path, "", of.head...); r.StatusCode != of.status {
				t.Errorf("%s: %s: %s", of.name, path, r.Status)
			}
		}
		if r := b.ask("POST", "/ui/read", `{"text":"x"}`, of.head...); r.StatusCode != of.status {
			t.Errorf("%s: read: %s", of.name, r.Status)
		}
	}
	if r := b.ask("GET", "/ui/", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); r.StatusCode != 200 {
		t.Errorf("a link to the page: %s", r.Status)
	}
	if r := b.ask("GET", "/ui/data/replies", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); r.StatusCode != 403 {
		t.Errorf("a link to data: %s", r.Status)
	}
	for _, path := range []string{"/ui/?key=" + operator, "/ui/data/replies?key=x", "/ui/?token=x"} {
		if r := b.ask("GET", path, ""); r.StatusCode != 400 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	if r := b.ask("POST", "/ui/read", `{"text":"x"}`, "Content-Type", "text/plain"); r.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a form of another page: %s", r.Status)
	}
	if r := b.ask("GET", "/ui/read", ""); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "POST" {
		t.Errorf("GET of read: %s", r.Status)
	}
	if r := b.ask("GET", "/ui/data/replies", ""); r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("other pages may read the answer")
	}
}

func TestEveryAnswerIsProtected(t *testing.T) {
	b := &browser{t: t, d: dash.New(config())}
	for range 2 { // without a session, and with one
		for _, path := range append([]string{"/", "/ui", "/ui/", "/ui/login.html", "/ui/style.css"}, data...) {
			if strings.HasSuffix(path, "/live") && b.cookie != nil {
				continue // a stream
			}
			r := b.ask("GET", path, "")
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
				"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s: %s: %q, want %q", path, name, got, want)
				}
			}
		}
		b.signIn(`{"key":"` + operator + `"}`)
	}
	if r := b.signIn(`{"key":"`+operator+`"}`, "Host", "ops.example"); r.StatusCode != 403 {
		t.Errorf("a name that hosts does not list: %s", r.Status)
	}
}

func TestCookieIsSecureOverTLS(t *testing.T) {
	c := config()
	c.Hosts = []string{"ops.example"}
	b := &browser{t: t, d: dash.New(c)}
	if b.signIn(`{"key":"`+operator+`"}`, "Host", "ops.example", "Origin", "https://ops.example"); !b.cookie.Secure {
		t.Error("behind a proxy with TLS the cookie is not Secure")
	}
	r := httptest.NewRequest("POST", "https://127.0.0.1/ui/login", strings.NewReader(`{"key":"`+operator+`"}`))
	r.Header.Set("Content-Type", "application/json")
	r.TLS = &tls.ConnectionState{}
	w := httptest.NewRecorder()
	b.d.ServeHTTP(w, r)
	if cookies := w.Result().Cookies(); len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("over TLS the cookies are %v", cookies)
	}
}

// The page is small, asks nobody else, and makes text nodes of all texts.
func TestPage(t *testing.T) {
	size := 0
	foreign := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]`)
	unsafe := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|createContextualFragment|DOMParser|import\(|setTimeout\('`)
	inline := regexp.MustCompile(`(?i)\son\w+=|\sstyle=|<script>|<style`)
	err := fs.WalkDir(os.DirFS("page"), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile("page/" + path)
		size += len(b)
		for _, bad := range []*regexp.Regexp{foreign, unsafe, inline} {
			if bad == inline && !strings.HasSuffix(path, ".html") {
				continue
			}
			if found := bad.FindString(strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")); found != "" {
				t.Errorf("%s holds %q", path, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 150<<10 {
		t.Errorf("the page has %d bytes, want at most 150 KB", size)
	}
}

func TestLiveStreamsWhatComes(t *testing.T) {
	c := config()
	source := &memory{more: []dash.Row{{ID: "a", Model: "<b>m</b>"}, {ID: "b"}}}
	c.Source = source
	d := dash.New(c)
	b := &browser{t: t, d: d}
	b.signIn(`{"key":"` + operator + `"}`)
	server := httptest.NewServer(d)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/ui/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(b.cookie)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if got := reply.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %s", got)
	}
	var ids []string
	for lines := bufio.NewScanner(reply.Body); len(ids) < 2 && lines.Scan(); {
		if line, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var row dash.Row
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, row.ID)
		}
	}
	if strings.Join(ids, " ") != "a b" {
		t.Errorf("streamed %v", ids)
	}
	d.Close()
	if _, err := io.ReadAll(reply.Body); err != nil {
		t.Errorf("the stream ends in %v", err)
	}
}

func TestFiltersAreChecked(t *testing.T) {
	c := config()
	c.Source = &memory{rows: []dash.Row{{ID: "a", Model: "m", Time: now.UnixMilli(), Outcome: "good"}, {ID: "b", Model: "m", Time: now.Add(-48 * time.Hour).UnixMilli(), Outcome: "bad"}}}
	b := &browser{t: t, d: dash.New(c)}
	b.signIn(`{"key":"` + operator + `"}`)
	for query, want := range map[string]string{
		"":                "2 a b",
		"since=24h":       "1 a",
		"outcome=bad":     "1 b",
		"model=other":     "0",
		"from=1&n=1":      "2 b",
		"from=9":          "2",
		"since=tomorrow":  "want 1h, 24h, 7d, 30d or 90d",
		"outcome=perhaps": "want good, bad, silent or uncounted",
		"from=-1":         "want a number",
		"n=x":             "want a number",
		"now=then":        "want a number",
		"now=" + fmt.Sprint(now.Add(-47*time.Hour).UnixMilli()): "1 b",
	} {
		r := b.ask("GET", "/ui/data/replies?"+query, "")
		body := text(t, r)
		var list dash.List
		if r.StatusCode == http.StatusOK {
			if err := json.Unmarshal([]byte(body), &list); err != nil {
				t.Fatal(err)
			}
			body = fmt.Sprint(list.Total)
			for _, row := range list.Rows {
				body += " " + row.ID
			}
			if body != want {
				t.Errorf("%s: %s, want %s", query, body, want)
			}
		} else if !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
	if r := b.ask("GET", "/ui/data/reply?id=c", ""); r.StatusCode != http.StatusNotFound {
		t.Errorf("a reply that is not there: %s", r.Status)
	}
}

func TestWithoutAStoreItSaysWhy(t *testing.T) {
	b := &browser{t: t, d: dash.New(config())}
	b.signIn(`{"key":"` + operator + `"}`)
	for _, path := range []string{"/ui/data/overview", "/ui/data/replies", "/ui/data/reply?id=a", "/ui/live"} {
		if got := text(t, b.ask("GET", path, "")); !strings.Contains(got, "nothing is kept") {
			t.Errorf("%s: %s", path, got)
		}
	}
}
