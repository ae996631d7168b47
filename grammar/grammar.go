// Package grammar holds the textual tool-call grammars as data: one record a
// dialect, read by package parse and written by package prompt.
//
// A record is made of markers. A marker is a template of literal text and
// slots; it is read leniently and written as it stands:
//
//   - White space matches any run of white space, or none.
//   - A slot is {name}, {key}, {type}, {id}, {n} (digits), {sfx} (an optional
//     ":word") or {any}. It ends at the literal that follows it, or at the first
//     character that a name cannot have.
//   - An attribute x="{slot}" may stand in any order, in either quotes or none;
//     other attributes are skipped.
//   - A "[" that ends an opener may have blanks before it; a "]" that starts a
//     closer is optional.
//
// The complete rules are in docs/grammars.md.
package grammar

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Body says what stands between the markers of a call.
type Body string

const (
	JSON   Body = "json"   // an object, a list or a run of objects that hold name and arguments
	Args   Body = "args"   // the name was in a marker; here: the arguments object, or plain text if Text is set
	Tagged Body = "tagged" // the name was in a marker; here: Arg fences
	Python Body = "python" // f(k=v, …): name and arguments
)

// Fence is a pair of markers.
type Fence struct {
	Open  string `json:"open,omitempty"`
	Close string `json:"close,omitempty"`
}

// RouteKind is what a message with a header is.
type RouteKind string

const (
	ThinkRoute RouteKind = "think"
	TextRoute  RouteKind = "text"
	CallRoute  RouteKind = "call"
)

// Marks is what a family of models writes beside its answers. What it takes out
// of a reply is taken out of the text, never out of a call's arguments.
type Marks struct {
	Ends  []string // what stands after one of these is not the model's to say; at the beginning only the mark goes
	Drop  []Fence  // what stands between these is no part of the answer; where the closer is missing, all the rest
	Noise []string // marks without meaning
	Tight bool     // runs of empty lines become one
}

// Begin reports whether s begins with what is taken out of a reply.
func (m *Marks) Begin(s string) bool {
	begins := func(mark string) bool { return strings.HasPrefix(s, mark) }
	return slices.ContainsFunc(m.Noise, begins) || slices.ContainsFunc(m.Drop, func(f Fence) bool { return begins(f.Open) })
}

// Route says what a message header means. The first Route that fits decides.
type Route struct {
	Has   string    `json:"has,omitempty"` // template looked for in the header, its own markers included; "" fits always
	As    RouteKind `json:"as"`
	Write Fence     `json:"write,omitzero"` // the whole message as printed: header … end
}

// Fields names the keys of a JSON body. As read, any usual alias counts too.
// Name "{name}" means that the only key is the name and its value the arguments.
type Fields struct {
	In   string `json:"in,omitempty"` // keys of the objects around a call, the outer first: "tool.function"
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	Args string `json:"args,omitempty"`
}

// Grammar is one dialect.
type Grammar struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"` // other names for the same record
	Models  []string `json:"models,omitempty"`  // globs, lower case; a model's grammars are all that match, in All's order
	Source  string   `json:"source,omitempty"`  // where the dialect is written down

	Prefill string  `json:"prefill,omitempty"` // how the chat template ends the prompt
	Think   Fence   `json:"think,omitzero"`    // around reasoning
	Header  Fence   `json:"header,omitzero"`   // a message header; with it, calls live only in messages that a Route calls "call"
	End     string  `json:"end,omitempty"`     // ends a message; between End and the next Header nothing is a call
	Routes  []Route `json:"routes,omitempty"`
	Group   Fence   `json:"group,omitzero"` // around the calls of a turn
	Call    Fence   `json:"call,omitzero"`  // around one call; Open holds {name} for Args and Tagged
	Arg     Fence   `json:"arg,omitzero"`   // around one argument (Tagged); Open holds {key}, maybe {type}. JSON: Open stands after the object, and the text from there to Call.Close is one argument more
	Item    Fence   `json:"item,omitzero"`  // around one list element; set: values nest
	Raw     Fence   `json:"raw,omitzero"`   // inside Arg: a value that begins with Open is taken word for word up to Close and Arg.Close
	Body    Body    `json:"body"`
	Fields  Fields  `json:"fields,omitzero"`
	Quote   string  `json:"quote,omitempty"` // string delimiter of Args in place of "; set: keys and scalars may be bare
	Text    string  `json:"text,omitempty"`  // argument that takes a body which is plain text
	ID      string  `json:"id,omitempty"`    // form of an id that the dialect writes: "functions.{name}:{n}"

	Also   map[string][]string `json:"also,omitempty"`   // other spellings of a marker ("call.open"): read, never written
	Noise  []string            `json:"noise,omitempty"`  // markers dropped from text
	Line   bool                `json:"line,omitempty"`   // openers are ordinary text: they count at a line start and with a declared name
	Quiet  bool                `json:"quiet,omitempty"`  // markers inside Think are talk; else a complete call ends thinking
	Guess  bool                `json:"guess,omitempty"`  // a value of Arg that neither {type} nor a schema types is JSON if it reads as JSON, as the model's engines have it; else it is text
	Quoted bool                `json:"quoted,omitempty"` // a text of Arg that is a JSON string from end to end is what that string says, as the model's engines have it
	XML    bool                `json:"xml,omitempty"`    // text values are XML: entities and CDATA are decoded
	Result Fence               `json:"result,omitzero"`  // as prompt writes a tool result; {name} and {id} may be used

	Manifest string `json:"manifest,omitempty"` // how prompt lists tools: lines ("" too) or functions, an object each; react; elements; or indented JSON as openai, gemini, anthropic or autobyteus have it
	List     Fence  `json:"list,omitzero"`      // around the tools of lines and functions, as the family's template has it; an Open that ends in "[" makes a JSON list
}

// generic wraps results where the dialect has no form of its own.
var generic = Fence{Open: "<tool_response name=\"{name}\">\n", Close: "\n</tool_response>"}

// Results is the fence around a tool's result.
func (g *Grammar) Results() Fence {
	if g.Result.Open == "" {
		return generic
	}
	return g.Result
}

// Stops lists the stop sequences of the dialect: the beginning of a tool's
// result, which only a model that invents one would write. A server may swallow
// the stop; no call is shortened by it.
func (g *Grammar) Stops() []string {
	open := strings.TrimSpace(literalHead(g.Results().Open))
	switch {
	case len(open) < 4:
		return nil
	case open[0] == '<':
		open, _, _ = strings.Cut(open, " ")
	case open[0] != '[':
		open = "\n" + open // ordinary words: at a line start only
	}
	return []string{open}
}

// literalHead is a marker up to its first slot or line break.
func literalHead(marker string) string {
	if i := strings.IndexAny(marker, "{\n"); i >= 0 {
		return marker[:i]
	}
	return marker
}

// Turn says what a chat token does.
type Turn int

const (
	EndsTurn   Turn = iota // ends a turn; some servers leave the last one in the text
	OwnTurn                // begins another turn of the model
	OtherTurn              // begins a turn of the user or of the system
	ResultTurn             // begins the result of a tool
)

// ChatToken is a text with which chat templates divide a conversation, as models
// that are not stopped write it.
type ChatToken struct {
	Text  string
	Turn  Turn
	Alone bool // ordinary words: counts only if it is the whole line
}

// ChatTokens lists them.
func ChatTokens() []ChatToken { return slices.Clone(chatTokens) }

// All lists the built-in grammars. The order decides between equal openers.
func All() []*Grammar { return slices.Clone(all) }

// ByName finds a grammar by its name or one of its aliases, in any case.
func ByName(name string) (*Grammar, bool) {
	for _, g := range all {
		if g.GoesBy(name) {
			return g, true
		}
	}
	return nil, false
}

// ForModel lists the grammars whose Models match the model's name, in All's
// order. A path ("org/name") and a tag ("name:7b") count with and without.
func ForModel(model string) (out []*Grammar) {
	names := spellings(model)
	for _, g := range all {
		if fits(g.Models, names) {
			out = append(out, g)
		}
	}
	return out
}

// Fits reports whether one of the globs, in lower case, matches a model's name
// as those of ForModel do.
func Fits(globs []string, model string) bool { return fits(globs, spellings(model)) }

func spellings(model string) []string {
	model = strings.ToLower(model)
	names := []string{model, path.Base(model)}
	for _, n := range names[:2] {
		if short, _, ok := strings.Cut(n, ":"); ok {
			names = append(names, short)
		}
	}
	return names
}

func fits(globs, names []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(glob, n); return ok })
	})
}

// PieceKind is what a piece of a marker matches.
type PieceKind int

const (
	Literal PieceKind = iota // Text, exactly
	Space                    // any run of white space, or none; Text as printed
	Slot                     // Text is the slot's name
	Attr                     // Name="{Text}" in any order within the tag
)

// Piece is a part of a marker.
type Piece struct {
	Kind PieceKind
	Text string // the literal, the blanks, or the slot's name
	Name string // of an attribute
}

var slots = []string{"name", "key", "type", "id", "n", "sfx", "any"}

// Split takes a marker apart. Unknown slots are an error, other braces literal text.
func Split(marker string) ([]Piece, error) {
	var out []Piece
	lit := func(s string) {
		if n := len(out); n > 0 && out[n-1].Kind == Literal {
			out[n-1].Text += s
		} else if s != "" {
			out = append(out, Piece{Kind: Literal, Text: s})
		}
	}
	for s := marker; s != ""; {
		if n := blanks(s); n > 0 {
			out = append(out, Piece{Kind: Space, Text: s[:n]})
			s = s[n:]
			continue
		}
		if name, rest, ok := slotAt(s); ok {
			out = attr(out, name, &rest)
			s = rest
			continue
		}
		if s[0] == '{' {
			if end := strings.IndexByte(s, '}'); end > 1 && isWord(s[1:end]) {
				return nil, fmt.Errorf("marker %q: unknown slot %s: want one of {%s}", marker, s[:end+1], strings.Join(slots, "} {"))
			}
		}
		n := strings.IndexAny(s[1:], " \t\r\n{") + 1
		if n == 0 {
			n = len(s)
		}
		lit(s[:n])
		s = s[n:]
	}
	return out, nil
}

// attr adds a slot, as an attribute if x=" stands before it and " after it.
func attr(out []Piece, slot string, rest *string) []Piece {
	if n := len(out); n > 0 && out[n-1].Kind == Literal && strings.HasSuffix(out[n-1].Text, `="`) && strings.HasPrefix(*rest, `"`) {
		head := strings.TrimSuffix(out[n-1].Text, `="`)
		name := head[lastNonWord(head):]
		if head = strings.TrimSuffix(head, name); head == "" {
			out = out[:n-1]
		} else {
			out[n-1].Text = head
		}
		*rest = (*rest)[1:]
		return append(out, Piece{Kind: Attr, Text: slot, Name: name})
	}
	return append(out, Piece{Kind: Slot, Text: slot})
}

func slotAt(s string) (name, rest string, ok bool) {
	if s[0] != '{' {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[1:], "}")
	if !ok || !slices.Contains(slots, name) {
		return "", s, false
	}
	return name, rest, true
}

func blanks(s string) int {
	return len(s) - len(strings.TrimLeft(s, " \t\r\n"))
}

func isWord(s string) bool { return lastNonWord(s) == 0 }

// lastNonWord is the length of s without its last word.
func lastNonWord(s string) int {
	return len(strings.TrimRightFunc(s, func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}))
}

// Named lists the grammars that go by a name: a grammar's own, or an alias,
// which several records of one dialect may share. The case does not matter.
func Named(name string) (out []*Grammar) {
	for _, g := range all {
		if g.GoesBy(name) {
			out = append(out, g)
		}
	}
	return out
}

// GoesBy reports whether a name is g's own or one of its aliases, in any case.
func (g *Grammar) GoesBy(name string) bool {
	return strings.EqualFold(g.Name, name) || slices.ContainsFunc(g.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// marked are the openers and closers of calls and groups by which markup of a call
// is known wherever it stands: those of the built-in dialects that no ordinary
// text has. Prefixes of others are left out.
var marked = markers()

// minMarked is how long such a marker is at least.
const minMarked = 8

func markers() (out []string) {
	for _, g := range all {
		if g.Line {
			continue
		}
		for field, list := range g.Markers() {
			if !strings.HasPrefix(field, "call.") && !strings.HasPrefix(field, "group.") {
				continue
			}
			for _, m := range list {
				head := strings.TrimSpace(literalHead(m))
				if len(head) >= minMarked && (head[0] == '<' || head[0] == '[') {
					out = append(out, head)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Marked reports whether a text that is no call any more has markup of one, outside
// of code between backquotes.
func Marked(text string) bool {
	if !strings.ContainsAny(text, "<[") {
		return false
	}
	for i, part := range strings.Split(text, "`") {
		if i%2 == 0 && slices.ContainsFunc(marked, func(m string) bool { return strings.Contains(part, m) }) {
			return true
		}
	}
	return false
}
