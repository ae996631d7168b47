package backend_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
)

// told is a text form: a model without native tools, told in one dialect.
func told(t *testing.T, name string) backend.Config {
	return backend.Config{Formats: in(name)}
}

// turns is a script that answers each request with one of the texts.
func turns(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("-- turn --\n-- text --\n" + text + "\n")
	}
	return b.String()
}

// What a model writes besides its answer is taken out, and what it writes in
// the place of others does not count. Code keeps its indentation, and no
// argument of a call is touched.
//
// contract: W-14 W-16 A-22 Z-06 CON-32 W-05
func TestWhatOfAReplyCounts(t *testing.T) {
	const hermes = "<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"%s\"}}\n</tool_call>"
	call := func(query string) string { return strings.ReplaceAll(hermes, "%s", query) }
	adapted := func(name string) backend.Config {
		a, err := format.AdapterByName(name)
		if err != nil {
			t.Fatal(err)
		}
		c := told(t, "hermes")
		c.Adapter = &a
		return c
	}
	for _, c := range []struct {
		name   string
		config backend.Config
		text   string
		want   string // the visible text, then the calls
	}{
		{"marks without meaning", adapted("pygmalion"), "[b]Five[/b], [i]see[/i] [color=#ff0000]a.go:1[/color].", "Five, see a.go:1."},
		{"empty lines", adapted("pygmalion"), "One.\n\n\n[b][/b]\n\nTwo.\nThree.", "One.\n\nTwo.\nThree."},
		{"a block of another role", adapted("MythoMax"), "[INST]Ask me.[/INST]It is 5.", "It is 5."},
		{"a block that does not close", adapted("pygmalion"), "It is 5.\n[INST] And then? " + call("a"), "It is 5."},
		{"another speaker", adapted("pygmalion"), "It is 5.\n### Human: Do more.\n" + call("a"), "It is 5."},
		{"a mark before anything was said", adapted("pygmalion"), "[/INST] It is 5.", "It is 5."},
		{"a mark in an argument", adapted("pygmalion"), call("[INST] [b]x[/b]"), `search_code {"query":"[INST] [b]x[/b]"}`},
		{"a call between marks", adapted("pygmalion"), call("a") + "[INST]" + call("b") + "[/INST] Wait.", `Wait. search_code {"query":"a"}`},
		{"a mark that is none", adapted("pygmalion"), "a[0], [in] and ### Human rights", "a[0], [in] and ### Human rights"},
		{"an observation", adapted("dolphin"), "It is 5.\nObservation: really", "It is 5."},
		{"a turn begun for the user", adapted("gemma"), "It is 5.<end_of_turn>\n<start_of_turn>user\nThanks", "It is 5."},
		{"an invented result", told(t, "hermes"), call("a") + "\n<tool_response>\nb.go\n</tool_response>\nIt is in b.go.\n" + call("b"), `search_code {"query":"a"}`},
		{"the invented result of another dialect", backend.Config{Formats: in("native")}, "[TOOL_CALLS] [{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}][TOOL_RESULTS] b.go[/TOOL_RESULTS] In b.go.", `search_code {"query":"a"}`},
		{"an invented observation behind a call in another form", told(t, "react"), call("a") + "\nObservation: b.go\nFinal Answer: b.go", `search_code {"query":"a"}`},
		{"a result that is talked about", told(t, "hermes"), "A result stands in <tool_response>.", "A result stands in <tool_response>."},
		{"the final answer", told(t, "react"), "Thought: I know.\nFinal Answer: It is 5.\nAction: search_code\nAction Input: {\"query\": \"a\"}", "It is 5."},
		{"an answer without the words that begin one", told(t, "react"), "Thought: I can answer.\n\nIt is 5.", "I can answer.\n\nIt is 5."},
		{"an action behind a final answer in other letters", told(t, "react"), "Thought: I know.\n**Final answer**: It is 5.\nAction: search_code\nAction Input: {\"query\": \"a\"}", "It is 5."},
		{"nothing but a reasoner's thinking", told(t, "react"), "<think>It may be 5.</think>\n", ""},
		{"thinking aloud behind a reasoner's", told(t, "react"), "<think>Hm.</think>\n**Thought:** It is 5.", "It is 5."},
		{"thinking aloud before the final answer", told(t, "react"), "I now know it.\n\nFinal Answer: It is 5.", "It is 5."},
		{"an observation before the final answer", told(t, "react"), "Observation: 5 in a.go\nFinal Answer: It is 5.", "It is 5."},
		{"an answer before the final answer", told(t, "react"), "It is 5, by a.go.\n\nIt was 4.\n\nFinal Answer: It is 5.", "It is 5, by a.go.\n\nIt was 4.\n\nIt is 5."},
		{"a short answer", told(t, "react"), "It is 5.", "It is 5."},
		{"words before a call", told(t, "react"), "I look.\nAction: search_code\nAction Input: {\"query\": \"a\"}", `I look. search_code {"query":"a"}`},
		{"a bold final answer alone", told(t, "react"), "**Final Answer:** It is 5.", "It is 5."},
		{"an action behind the words final answer", told(t, "react"), "Thought: I look.\nFinal Answer: Action: search_code\nAction Input: {\"query\": \"a\"}", `search_code {"query":"a"}`},
		{"protocol words", told(t, "hermes"), "Code:\n\n    if x {\n        return\n    }\nto=functions.search_code {\"query\": \"a\"}\n    done", "Code:\n\n    if x {\n        return\n    }\n\n    done search_code {\"query\":\"a\"}"},
		{"protocol words of a tool that is none", told(t, "hermes"), "One writes\nto=functions.browse {\"q\": \"a\"}\nthere.", "One writes\nto=functions.browse {\"q\": \"a\"}\nthere."},
		{"protocol words in a sentence", told(t, "hermes"), "It writes to=functions.x there.", "It writes to=functions.x there."},
	} {
		eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
			conf := c.config
			conf.Provider, conf.Whole = provider, whole
			s := inline(t, turns(c.text))
			s.Chunk = chunk
			got := mustReply(t, setUp(t, s, conf).Client, question(search))
			all := []string{strings.TrimSpace(got.Text())}
			for _, call := range got.Calls() {
				all = append(all, call.Name+" "+compactArgs(t, call))
			}
			if text := strings.TrimSpace(strings.Join(all, " ")); text != c.want || len(got.Problems) > 0 {
				t.Errorf("%s:\ngot  %q %v\nwant %q", c.name, text, got.Problems, c.want)
			}
		})
	}
}

// A token that the server leaves at the end of a reply is no part of it, and
// makes no text of the call before it.
//
// contract: W-14 A-22
func TestATokenAtTheEndOfAReply(t *testing.T) {
	const args = "{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}"
	for text, want := range map[string]string{
		"It is 5.%":                     "It is 5.",
		"```json\n" + args + "\n```%":   `search_code {"query":"a"}`,
		args + "%\n":                    `search_code {"query":"a"}`,
		"<tool_call>" + args + "%":      `search_code {"query":"a"}`,
		"The token is written `%` here": "The token is written `%` here",
	} {
		eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
			for _, token := range []string{"<|im_end|>", "<|eot_id|>", "</s>"} {
				s := inline(t, turns(strings.ReplaceAll(text, "%", token)))
				s.Chunk = chunk
				c := told(t, "hermes")
				c.Provider, c.Whole = provider, whole
				got := mustReply(t, setUp(t, s, c).Client, question(search))
				all := []string{strings.TrimSpace(got.Text())}
				for _, call := range got.Calls() {
					all = append(all, call.Name+" "+compactArgs(t, call))
				}
				if text := strings.TrimSpace(strings.Join(all, " ")); text != strings.ReplaceAll(want, "%", token) {
					t.Errorf("%q: %q", strings.ReplaceAll(want, "%", token), text)
				}
			}
		})
	}
}

// A try at a call that had to stay text is a problem, so that the model can be
// told: an unknown tool, or arguments in another form.
//
// contract: A-08 A-22
func TestATryAtACallIsAProblem(t *testing.T) {
	for _, c := range []struct {
		dialect, text string
		kind          utp.ProblemKind
		name          string
	}{
		{"react", "Action: grep\nAction Input: {\"query\": \"a\"}", utp.ProblemUnknownTool, "grep"},
		{"react", "**Action:** grep\n**Action Input:** {\"query\": \"a\"}", utp.ProblemUnknownTool, "grep"},
		{"react", "Thought: I look.\nAction: search_code(what was asked)", utp.ProblemMalformed, "search_code"},
		{"react", "Final Answer: I used it.\nAction: grep\nAction Input: {}", "", ""},
		{"react-tool", "# Tool: grep\n# Arguments: {\"query\": \"a\"}", utp.ProblemUnknownTool, "grep"},
		{"react", "Action: we should go home\nand sleep.", "", ""},
		{"react", "Action: search_code\nAction Input: {\"query\": \"a\"}", "", ""},
		{"cline", "<div>\nis no tool.\n</div>", "", ""},
		{"hermes", "Action: grep\nAction Input: {\"query\": \"a\"}", "", ""},
	} {
		s := inline(t, turns(c.text))
		s.Chunk = 1
		got := mustReply(t, setUp(t, s, told(t, c.dialect)).Client, question(search))
		var kind utp.ProblemKind
		var name string
		if len(got.Problems) > 0 {
			kind, name = got.Problems[0].Kind, got.Problems[0].Name
		}
		if kind != c.kind || name != c.name || len(got.Problems) > 1 {
			t.Errorf("%s %q: %+v", c.dialect, c.text, got.Problems)
		}
	}
}

// A model that calls in the words of ReAct though it was told otherwise answers
// in them too.
//
// contract: P-37 A-22 P-35
func TestAnAnswerInTheFormOfTheCall(t *testing.T) {
	for _, form := range []string{"native", "hermes"} {
		eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
			s := inline(t, turns("Thought: I look.\nAction: search_code\nAction Input: {\"query\": \"a\"}", "Thought: I know.\nFinal Answer: It is 5.\nAction: search_code\nAction Input: {}", "Final Answer: Yes."))
			s.Chunk = chunk
			c := told(t, form)
			c.Provider, c.Whole = provider, whole
			r := setUp(t, s, c)
			q := question(search)
			q = after(q, mustReply(t, r.Client, q))
			got := mustReply(t, r.Client, q)
			if strings.TrimSpace(got.Text()) != "It is 5." || len(got.Calls()) > 0 || strings.TrimSpace(got.Thinking()) != "I know." {
				t.Errorf("%s: %+v", form, got.Parts)
			}
		})
	}
	r := setUp(t, inline(t, turns("<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tool_call>", "Final Answer: is what ReAct says.")), told(t, "native"))
	q := question(search)
	q = after(q, mustReply(t, r.Client, q))
	if got := mustReply(t, r.Client, q); got.Text() != "Final Answer: is what ReAct says." {
		t.Errorf("%+v", got.Parts)
	}
}

// The stops of the form and of the adapter go together, and none goes once a
// tool has answered.
//
// contract: A-20 W-14 W-08
func TestStopsOfFormAndAdapter(t *testing.T) {
	c := told(t, "react")
	c.Adapter = &format.Adapter{Name: "own", Stops: []string{"### Human:"}}
	r := setUp(t, inline(t, turns("Action: search_code\nAction Input: {\"query\": \"a\"}", "In auth.go.")), c)
	q := question(search)
	first := mustReply(t, r.Client, q)
	mustReply(t, r.Client, after(q, first))
	if d := cmp.Diff([]string{"\nObservation:", "### Human:"}, bodyOf(t, r, 0).Stop); d != "" {
		t.Error(d)
	}
	if stops := bodyOf(t, r, 1).Stop; len(stops) != 0 {
		t.Errorf("stops after a result: %q", stops)
	}
}

// A template that knows user and assistant only gets them in turn, by the
// model's name or once it has refused.
//
// contract: W-14
func TestAModelWithoutASystemMessage(t *testing.T) {
	roles := func(s sent) (out []string) {
		for _, m := range s.Messages {
			out = append(out, m.Role)
		}
		return out
	}
	c := told(t, "hermes")
	c.Model = "google/gemma-2-9b-it"
	r := setUp(t, inline(t, turns("<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}\n</tool_call>", "In auth.go.")), c)
	q := question(search)
	first := mustReply(t, r.Client, q)
	next := after(q, first)
	next.Messages = append(next.Messages, utp.NewText(utp.RoleUser, "Go on."))
	mustReply(t, r.Client, next)
	asked, again := bodyOf(t, r, 0), bodyOf(t, r, 1)
	if d := cmp.Diff([]string{"user"}, roles(asked)); d != "" {
		t.Error(d)
	}
	if text := asked.Messages[0].Content; !strings.HasPrefix(text, "Be brief.") || !strings.Contains(text, "<tool_call>") || !strings.HasSuffix(text, "\n\nWhere is authentication?") {
		t.Errorf("the message is %q", text)
	}
	if d := cmp.Diff([]string{"user", "assistant", "user"}, roles(again)); d != "" {
		t.Error(d)
	}

	refusal := "-- turn --\n-- error 500 --\nJinja Exception: System role not supported\n"
	r = setUp(t, inline(t, refusal+turns("Hello.", "Hello again.")), backend.Config{Model: "some-model"})
	for range 2 {
		mustReply(t, r.Client, question(search))
	}
	if d := cmp.Diff([]string{"user"}, roles(bodyOf(t, r, 2))); d != "" || len(r.server.Requests()) != 3 || len(r.warned) != 1 {
		t.Errorf("%s %d requests, warned %q", d, len(r.server.Requests()), r.warned)
	}
}

// The first results behind a question say what they are for, in forms that no
// model was trained in; later ones do not, and the words stay where they were.
//
// contract: W-07
func TestTheFirstResultReminds(t *testing.T) {
	const words = "Answer the question from this result"
	call := "Action: search_code\nAction Input: {\"query\": \"%\"}"
	texts := []string{strings.ReplaceAll(call, "%", "a"), strings.ReplaceAll(call, "%", "b"), "In auth.go."}
	for dialect, want := range map[string]int{"react": 1, "hermes": 0} {
		r := setUp(t, inline(t, turns(texts...)), told(t, dialect))
		q := question(search)
		for range texts {
			q = after(q, mustReply(t, r.Client, q))
		}
		last := bodyOf(t, r, 2)
		if n := strings.Count(last.body, words); n != want {
			t.Errorf("%s: reminded %d times in %s", dialect, n, last.body)
		}
		if want > 0 && !strings.Contains(last.Messages[3].Content, words) {
			t.Errorf("%s: the first result is %q", dialect, last.Messages[3].Content)
		}
	}
	r := setUp(t, inline(t, turns("Hello.")), backend.Config{Formats: in("native")})
	q := after(question(search), utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "1", Name: "search_code", Args: json.RawMessage(`{}`)}}}})
	mustReply(t, r.Client, q)
	if body := bodyOf(t, r, 0).body; strings.Contains(body, words) {
		t.Errorf("native: %s", body)
	}
}

// Held to one call a reply, a model's further calls and all that follows do
// not count.
//
// contract: W-15
func TestOneCallInAReply(t *testing.T) {
	no := false
	text := "I look.\n<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tool_call>\n<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"b\"}}</tool_call>\nThen."
	native := "-- turn --\n-- text --\nI look.\n-- call search_code --\n{\"query\": \"a\"}\n-- call search_code --\n{\"query\": \"b\"}\n"
	for name, script := range map[string]string{"text": turns(text), "native": native} {
		eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
			for _, single := range []bool{true, false} {
				s := inline(t, script)
				s.Chunk = chunk
				r := setUp(t, s, backend.Config{Provider: provider, Whole: whole, Formats: in(name)})
				q := question(search)
				want := 2
				if single {
					q.Choice.Parallel, want = &no, 1
				}
				got := mustReply(t, r.Client, q)
				if cs := got.Calls(); len(cs) != want || compactArgs(t, cs[0]) != `{"query":"a"}` || !strings.HasPrefix(got.Text(), "I look.") {
					t.Errorf("%s, single %v: %+v", name, single, got.Parts)
				}
				if single && (strings.Contains(got.Text(), "Then") || got.Stop != utp.StopTool || len(got.Problems) > 0) {
					t.Errorf("%s: %+v", name, got)
				}
			}
		})
	}
}

// Some servers call natively and then answer a result with nothing. They are
// asked again in text, at once and from then on.
//
// contract: W-11
func TestAnEmptyReplyAfterAResult(t *testing.T) {
	script := "-- turn --\n-- call search_code --\n{\"query\": \"auth\"}\n" +
		"-- turn --\nlast tool\ntools\n-- empty --\n-- usage prompt=10 completion=1 --\n" +
		"-- turn --\nlast user\nno tools\ncontains <tool_response>\n-- text --\nIn auth.go.\n-- usage prompt=20 completion=2 --\n" +
		"-- turn --\nno tools\n-- text --\nYes.\n"
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := inline(t, script)
		s.Chunk = chunk
		r := setUp(t, s, backend.Config{Provider: provider, Whole: whole})
		q := question(search)
		q = after(q, mustReply(t, r.Client, q))
		got := mustReply(t, r.Client, q)
		if got.Text() != "In auth.go." || got.Usage.Prompt() != 30 || got.Usage.Completion() != 3 {
			t.Errorf("%+v", got)
		}
		if len(r.warned) != 1 || !strings.Contains(r.warned[0], "said nothing") {
			t.Errorf("warned %q", r.warned)
		}
		q.Messages = append(q.Messages, got.Message, utp.NewText(utp.RoleUser, "Sure?"))
		mustReply(t, r.Client, q)
		if err := r.server.Err(); err != nil {
			t.Error(err)
		}
	})
	r := setUp(t, inline(t, "-- turn --\n-- empty --\n"), backend.Config{Formats: in("native")})
	q := after(question(search), utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "1", Name: "search_code", Args: json.RawMessage(`{}`)}}}})
	if got := mustReply(t, r.Client, q); len(got.Parts) != 0 || len(r.warned) != 1 || !strings.Contains(r.warned[0], "set in the configuration") {
		t.Errorf("%+v, warned %q", got, r.warned)
	}
}

// A call in another form than the one that the model was told is a mismatch.
//
// contract: A-21
func TestAnotherFormIsAMismatch(t *testing.T) {
	const text = "<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tools>"
	for name, c := range map[string]struct {
		config backend.Config
		want   bool
	}{
		"native": {backend.Config{Formats: in("native")}, true}, "react": {told(t, "react"), true}, "tools-tag": {told(t, "tools-tag"), false},
	} {
		r := setUp(t, inline(t, turns(text)), c.config)
		mustReply(t, r.Client, question(search))
		if len(r.traced) != 1 || r.traced[0].Mismatch != c.want {
			t.Errorf("%s: %+v", name, r.traced)
		}
	}
}

// TestARepeatingReplyIsStopped: of a reply that makes the same call again and
// again, the calls before count and the request ends.
func TestARepeatingReplyIsStopped(t *testing.T) {
	call := "<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}\n</tool_call>\n"
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := inline(t, turns(strings.Repeat(call, 100)))
		s.Chunk = chunk
		got := mustReply(t, setUp(t, s, backend.Config{Provider: provider, Whole: whole}).Client, question(search))
		if len(got.Calls()) != 3 || len(got.Problems) != 1 || got.Stop != utp.StopTool {
			t.Errorf("%d calls, problems %v, stop %s", len(got.Calls()), got.Problems, got.Stop)
		}
		if text := got.Text(); !whole && chunk == 1 && len(text) > 2*len(call) {
			t.Errorf("%d bytes of text follow", len(text))
		}
	})
}
