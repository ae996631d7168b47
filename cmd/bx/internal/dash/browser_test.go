package dash_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash/dashtest"
)

var figures = flag.Bool("figures", false, "print frames and first paint")

// hostile are replies that try to leave their place: by markup, attributes,
// scripts, marks of direction, escapes of terminals, and marks without end.
func hostile() (texts []string) {
	for _, bad := range []string{
		`<script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `<img src="http://evil.example/x.png">`, `"><svg onload=window.pwned=1>`,
		`' onmouseover='window.pwned=1`, `" autofocus onfocus="window.pwned=1`, `javascript:window.pwned=1`, `<a href="javascript:window.pwned=1">x</a>`,
		`<iframe src="http://evil.example"></iframe>`, `<link rel=stylesheet href=http://evil.example/x.css>`, `<style>*{display:none}</style>`, `<base href="http://evil.example/">`,
		`<meta http-equiv=refresh content="0;url=http://evil.example">`, `<form action=http://evil.example><input autofocus>`, `</textarea><script>window.pwned=1</script>`, `<!--`, `]]>`, `&lt;script&gt;`,
		"\u202eevil\u202c", "\u2066\u2067\u2068x", "\u200b\u200f\u061cx", "\x1b[2J\x1b[31mred\x1b]0;title\x07", "\x00\x01\x02", "\r\rover", "Z" + strings.Repeat("\u0301\u0327", 300), strings.Repeat("W", 3000),
		strings.Repeat("\n", 200), "\U000e0041\U000e0042", "${window.pwned=1}", "{{constructor.constructor('window.pwned=1')()}}", "__proto__", "constructor", "\ufeff\ufffe", "data:text/html,<script>window.pwned=1</script>",
	} {
		name, _ := json.Marshal(bad)
		texts = append(texts, bad, "<tool_call>\n{\"name\": "+string(name)+", \"arguments\": {"+string(name)+": "+string(name)+"}}\n</tool_call>",
			"<tool_call>\n{\"name\": \"f\", \"arguments\": {a: "+string(name)+",}}\n</tool_call>")
	}
	return texts
}

// withHostile puts hostile texts into every field of replies.
func withHostile(m *memory, until time.Time) {
	for i, bad := range hostile() {
		row := dash.Row{ID: fmt.Sprintf("h%d<b>\"'&#%%", i), Time: until.Add(-time.Duration(i) * time.Second).UnixMilli(), By: bad, Client: bad, Model: bad, Backend: bad, Form: bad,
			Dialects: []string{bad}, Names: []string{bad, bad}, Outcome: "bad", Why: bad, Status: 200, Took: 1000, Calls: 2, Fixes: 1, Problems: 1, In: 5, Out: 5}
		m.rows = append([]dash.Row{row}, m.rows...)
		m.replies[row.ID] = dash.Reply{Row: row, API: bad, Speaks: bad, Asked: bad, Answer: bad, FormWhy: bad, Stop: bad, Reason: bad, Again: bad, Offered: 1,
			Made:   []dash.MadeCall{{Name: bad, Source: bad, Fixes: []string{bad}, Refusal: bad, Outcome: bad, Took: 5}},
			Broken: []dash.BrokenCall{{Kind: bad, Name: bad, Dialect: bad, Why: bad}}, Lost: []dash.Count{{Name: bad, Count: 1}}, Nothing: bad,
			Content: &dash.Content{Raw: bad, Request: bad}}
		c := dash.Count{Name: bad, Count: i + 1, Bad: 1}
		m.extra.Fixes, m.extra.Problems, m.extra.Losses, m.extra.Invented = append(m.extra.Fixes, c), append(m.extra.Problems, c), append(m.extra.Losses, c), append(m.extra.Invented, c)
		m.extra.Tools = append(m.extra.Tools, dash.Tool{Name: bad, Calls: 1, Failed: 1, Mean: 1, Spent: 1})
	}
}

// The page at work in a real browser: every view in both themes, by keyboard
// alone, at a phone's width, with a screen reader's rules; nothing is asked of
// anybody else; hostile texts stay texts; 100,000 replies keep to 100 rows.
func TestBrowser(t *testing.T) {
	dashtest.Wanted(t)
	until := time.Now()
	worlds := map[string]*memory{"busy": busy(100_000, until), "empty": {}, "hostile": busy(50, until)}
	withHostile(worlds["hostile"], until)
	sample := worlds["busy"].rows[3]
	worlds["busy"].replies[sample.ID] = dash.Reply{Row: sample, API: "openai", Speaks: "ollama", Stream: true, Offered: 6, Stop: "tool_calls", FormWhy: "the model's name",
		Made: []dash.MadeCall{{Name: "get_weather", Source: "hermes", Fixes: []string{"unquoted key", "trailing comma"}}}, Broken: []dash.BrokenCall{{Kind: "truncated", Name: "get_weather", Dialect: "hermes"}},
		Content: &dash.Content{Raw: "I will look that up.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {city: \"Oslo\", \"days\": 3,}}\n</tool_call>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Ber",
			Request: `{"model": "qwen3-coder:30b", "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]}`}}
	urls := map[string]string{}
	for name, m := range worlds {
		c := config()
		c.Now, c.Source = time.Now, m
		if name == "empty" {
			c.Source = nil
		}
		d := dash.New(c)
		mux := http.NewServeMux()
		mux.Handle("/", d)
		mux.HandleFunc("POST /test/arrive", func(_ http.ResponseWriter, _ *http.Request) {
			row := busy(1, time.Now()).rows[0]
			row.ID, row.Time = fmt.Sprint("new", len(m.more)), time.Now().UnixMilli()
			m.arrive(row)
		})
		server := httptest.NewServer(mux)
		defer server.Close()
		defer d.Close()
		urls[name] = server.URL
	}
	dashtest.Drive(t, "../../../..", map[string]any{"urls": urls, "key": operator, "figures": *figures, "hostile": hostile(), "sample": sample.ID})
}
