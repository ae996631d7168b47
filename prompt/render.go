package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Render makes a request that a model without native tools understands: the
// tools and the tool choice go into the system message (at {{tools}}, else at
// its end), calls of earlier turns become text of the grammar, and the results
// of a turn one user message in the order of its calls. Tools that the provider
// runs itself stay in Tools. A call that the grammar cannot say is told as JSON
// in <tool_call>. r is not changed.
//
// It fails if a call in the history has arguments that are no JSON object, if
// the choice names a tool that is not offered, and if {{tools}} is misspelt.
func Render(g *grammar.Grammar, r *utp.Request) (*utp.Request, error) {
	return Writer{Grammar: g}.Render(r)
}

// Render is like the function of its name. It also fails if a custom template does.
func (w Writer) Render(r *utp.Request) (*utp.Request, error) {
	offered, kept := split(r)
	if err := checkChoice(r.Choice, offered); err != nil {
		return nil, err
	}
	out := *r
	out.Tools, out.Choice = kept, utp.Choice{}
	messages, err := w.History(r.Messages)
	if err != nil {
		return nil, err
	}
	list, err := w.Tools(offered)
	if err != nil {
		return nil, err
	}
	if list != "" {
		list = strings.TrimSpace(list + say("choice", choice{r.Choice, r.Choice.Parallel != nil && !*r.Choice.Parallel}))
	}
	out.Messages, err = w.addTools(messages, list)
	return &out, err
}

// choice is what the template of the choice sees.
type choice struct {
	utp.Choice
	Single bool // at most one call in a reply
}

// History writes the calls and results of a conversation as text, as Render
// does, and leaves everything else.
func (w Writer) History(ms []utp.Message) ([]utp.Message, error) {
	h := history{printer: printer{g: w.Grammar}, names: map[string]string{}, ids: map[string]string{}}
	return h.messages(ms)
}

// split parts the tools that a prompt can offer from those that a provider runs.
func split(r *utp.Request) (offered, kept []utp.Tool) {
	for _, t := range r.Tools {
		switch {
		case t.Kind == utp.HostedTool || t.Kind == utp.NamespaceTool:
			kept = append(kept, t)
		case len(r.Choice.Allowed) == 0 || slices.Contains(r.Choice.Allowed, t.Name):
			offered = append(offered, t)
		}
	}
	return offered, kept
}

func checkChoice(c utp.Choice, offered []utp.Tool) error {
	if c.Mode == utp.ChoiceNamed && !slices.ContainsFunc(offered, func(t utp.Tool) bool { return t.Name == c.Name }) {
		return fmt.Errorf("prompt: tool choice names %q, which is not among the %d tools offered", c.Name, len(offered))
	}
	return nil
}

// history turns the calls and results of a conversation into text.
type history struct {
	printer
	names map[string]string // of tools, by call id
	ids   map[string]string // as printed, by call id
	order []string          // ids of the last assistant message's calls
}

func (h *history) messages(in []utp.Message) ([]utp.Message, error) {
	var out []utp.Message
	for i := 0; i < len(in); i++ {
		m := in[i]
		switch m.Role {
		case utp.RoleTool:
			end := i
			for end < len(in) && in[end].Role == utp.RoleTool {
				end++
			}
			out = append(out, h.results(in[i:end]))
			i = end - 1
			continue
		case utp.RoleAssistant:
			parts, err := h.assistant(m.Parts)
			if err != nil {
				return nil, fmt.Errorf("prompt: messages[%d]: %w", i, err)
			}
			m.Parts = parts
		default:
			m.Parts = h.inline(m.Parts)
		}
		out = append(out, m)
	}
	return out, nil
}

// assistant writes each run of calls as text, joined to the text before it.
func (h *history) assistant(parts []utp.Part) ([]utp.Part, error) {
	var out []utp.Part
	h.order = nil
	for i := 0; i < len(parts); {
		calls := leading(parts[i:])
		if len(calls) == 0 {
			out = append(out, parts[i])
			i++
			continue
		}
		text, err := h.run(calls)
		if err != nil {
			return nil, err
		}
		out = join(out, text)
		i += len(calls)
	}
	return out, nil
}

func leading(parts []utp.Part) (calls []utp.Call) {
	for _, p := range parts {
		c, ok := p.(utp.Call)
		if !ok {
			break
		}
		calls = append(calls, c)
	}
	return calls
}

// fallback says what the grammar in use cannot.
var fallback = grammar.Grammar{Name: "fallback", Body: grammar.JSON,
	Call: grammar.Fence{Open: "<tool_call>\n", Close: "\n</tool_call>"}}

func (h *history) run(calls []utp.Call) (string, error) {
	before := h.n
	for i, c := range calls {
		p := printer{g: h.g, n: before + i}
		h.names[c.ID], h.ids[c.ID] = c.Name, p.id(c)
		h.order = append(h.order, c.ID)
	}
	text, err := h.calls(calls)
	if err == nil {
		return text, nil
	}
	text, failed := Calls(&fallback, calls)
	if failed != nil {
		return "", err
	}
	h.n = before + len(calls)
	return text, nil
}

// join adds text to the last part if that is plain text, on a line of its own.
func join(parts []utp.Part, text string) []utp.Part {
	n := len(parts)
	if n == 0 {
		return append(parts, utp.Text{Text: text})
	}
	last, ok := parts[n-1].(utp.Text)
	if !ok || last.Extra != nil {
		return append(parts, utp.Text{Text: text})
	}
	if last.Text != "" && !strings.HasSuffix(last.Text, "\n") {
		last.Text += "\n"
	}
	parts[n-1] = utp.Text{Text: last.Text + text}
	return parts
}

// results makes one user message of a turn's tool messages.
func (h *history) results(in []utp.Message) utp.Message {
	var all []utp.Result
	for _, m := range in {
		all = append(all, m.Results()...)
	}
	slices.SortStableFunc(all, func(a, b utp.Result) int { return cmp.Compare(h.place(a), h.place(b)) })
	var texts []string
	var blobs []utp.Part
	for _, r := range all {
		texts = append(texts, Result(h.g, h.named(r)))
		blobs = append(blobs, blobsOf(r)...)
	}
	m := utp.NewText(utp.RoleUser, strings.Join(texts, "\n"))
	m.Parts = append(m.Parts, blobs...)
	return m
}

// place is a result's rank: that of its call, or last.
func (h *history) place(r utp.Result) int {
	if i := slices.Index(h.order, r.CallID); i >= 0 {
		return i
	}
	return len(h.order)
}

// named gives a result the name and the printed id of its call.
func (h *history) named(r utp.Result) utp.Result {
	r.Name = or(r.Name, h.names[r.CallID])
	r.CallID = or(h.ids[r.CallID], r.CallID)
	return r
}

func blobsOf(r utp.Result) (out []utp.Part) {
	for _, p := range r.Parts {
		if b, ok := p.(utp.Blob); ok {
			out = append(out, b)
		}
	}
	return out
}

// inline writes results that stand in a user message as text.
func (h *history) inline(parts []utp.Part) []utp.Part {
	out := make([]utp.Part, 0, len(parts))
	for _, p := range parts {
		r, ok := p.(utp.Result)
		if !ok {
			out = append(out, p)
			continue
		}
		out = append(append(out, utp.Text{Text: Result(h.g, h.named(r))}), blobsOf(r)...)
	}
	return out
}
