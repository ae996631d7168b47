package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Intent is a row of the table by which a question raises the tier of the
// tools that are offered for it.
type Intent struct {
	Tier   utp.Tier `json:"tier"`
	Words  []string `json:"words"`            // whole words or phrases, lower case
	Order  bool     `json:"order,omitempty"`  // counts only as an order ("fix the typo"), not in a question about it
	Except []string `json:"except,omitempty"` // with Order: things that are made in the answer ("write a summary")
	Others bool     `json:"others,omitempty"` // orders in German, French, Spanish, Portuguese, Chinese and Japanese count too
}

// Intents is the default table.
func Intents() []Intent {
	return []Intent{
		{Tier: utp.TierRun, Order: true, Others: true,
			Words: []string{"edit", "change", "modify", "update", "fix", "add", "remove", "create", "write", "delete", "replace",
				"refactor", "rename", "implement", "insert", "append", "rewrite", "correct", "revert"},
			Except: []string{"summary", "overview", "explanation", "description", "list", "table", "answer", "report", "comparison",
				"paragraph", "sentence", "sentences", "outline", "diagram", "example", "examples", "poem", "haiku"}},
		{Tier: utp.TierWalk,
			Words: []string{"show me", "read", "view", "see", "look at", "contents of", "what's in", "open", "display", "print"}},
	}
}

// Offer is the tier of the tools to offer for one question.
type Offer struct {
	Tier utp.Tier
	Word string // of the table; "" when nothing raised the tier
	Why  string // for people
}

// Raise finds the tier to offer for a question: from, or what the table says
// of the question's words, but never above the ceiling. It decides what the
// model is offered, not what may run: the gate asks for each call.
func Raise(question string, from, ceiling utp.Tier, table []Intent) Offer {
	best := Offer{Tier: min(from, ceiling), Why: fmt.Sprintf("%s: nothing in the question asks for more", min(from, ceiling))}
	want, question := best.Tier, gist(question)
	for _, in := range table {
		if in.Tier <= want {
			continue
		}
		if word := in.find(question); word != "" {
			want = in.Tier
			best = Offer{Tier: min(want, ceiling), Word: word, Why: fmt.Sprintf("%s: the question says %q", want, word)}
		}
	}
	if want > best.Tier {
		best.Why = fmt.Sprintf("%s: the question says %q, which would be %s, but that is above the ceiling", best.Tier, best.Word, want)
	}
	return best
}

// maxGist is how much of a long question is looked at, at its beginning and at its
// end: people put what they want before or behind a text.
const maxGist = 8 << 10

func gist(question string) string {
	if len(question) <= 2*maxGist {
		return question
	}
	return strings.ToValidUTF8(question[:maxGist], "") + "\n" + strings.ToValidUTF8(question[len(question)-maxGist:], "")
}

// find gives the word or phrase of the row that counts in a question.
func (in Intent) find(question string) string {
	for _, s := range sentences(question) {
		find := in.mention
		if in.Order {
			find = in.order
		}
		if word := find(s); word != "" {
			return word
		}
	}
	if in.Others {
		return elsewhere(question)
	}
	return ""
}

// mention finds a phrase anywhere, unless it is negated.
func (in Intent) mention(s sentence) string {
	for _, phrase := range in.Words {
		want := strings.Fields(phrase)
		for i := range s.words {
			if s.has(i, want) && !s.negated(max(0, i-3), i) {
				return phrase
			}
		}
	}
	return ""
}

// order finds a verb that orders something: at the head of a sentence that is
// not a question, or of a later clause that goes on with an object.
func (in Intent) order(s sentence) string {
	for i := range s.words {
		if i > 0 && !s.clause(i) {
			continue
		}
		at, polite := s.lead(i)
		if at >= len(s.words) || !slices.Contains(in.Words, s.words[at].text) {
			continue
		}
		if s.orders(i, at, polite) && !in.answers(s, at) {
			return s.words[at].text
		}
	}
	return ""
}

// answers reports a verb whose object is part of the answer.
func (in Intent) answers(s sentence, at int) bool {
	next := s.words[at+1 : min(at+6, len(s.words))]
	object := slices.IndexFunc(next, func(w word) bool { return slices.Contains(in.Except, w.text) })
	return object >= 0 && !slices.ContainsFunc(s.words[at:], func(w word) bool { return w.file })
}

// orders reports whether the verb at orders something. Its clause begins at i.
func (s sentence) orders(i, at int, polite bool) bool {
	if at+1 < len(s.words) && slices.Contains(nothings, s.words[at+1].text) {
		return false
	}
	if i == 0 {
		return polite || !s.question
	}
	if polite {
		return true
	}
	if s.asks() || s.negated(s.contrast(at), at) || slices.ContainsFunc(s.words[:i], func(w word) bool {
		return slices.Contains(subordinators, w.text)
	}) {
		return false
	}
	return at+1 < len(s.words) && (s.words[at+1].file || slices.Contains(objects, s.words[at+1].text))
}

// asks reports a sentence that begins as a question.
func (s sentence) asks() bool {
	at, polite := s.lead(0)
	if polite || s.question {
		return !polite
	}
	return at < len(s.words) && slices.Contains(askers, s.words[at].text) && !s.has(at, []string{"do", "not"})
}

// contrast is the place after the last word before i that turns the sentence.
func (s sentence) contrast(i int) int {
	for j := i - 1; j >= 0; j-- {
		if slices.Contains(contrasts, s.words[j].text) {
			return j
		}
	}
	return 0
}

func (s sentence) negated(from, to int) bool {
	return slices.ContainsFunc(s.words[from:to], func(w word) bool {
		return slices.Contains(negations, w.text) || strings.HasSuffix(w.text, "n't")
	})
}

// clause reports whether a clause begins at i.
func (s sentence) clause(i int) bool {
	return s.words[i-1].pause || slices.Contains(joiners, s.words[i-1].text)
}

// lead skips polite and filling words from i. polite says that they ask
// somebody to do something ("can you").
func (s sentence) lead(i int) (at int, polite bool) { return s.skip(i, leads) }

// skip is lead for the leads of any language.
func (s sentence) skip(i int, leads []lead) (at int, polite bool) {
next:
	for {
		for _, l := range leads {
			if words := strings.Fields(l.text); s.has(i, words) {
				i, polite = i+len(words), polite || l.polite
				continue next
			}
		}
		return i, polite
	}
}

func (s sentence) has(i int, words []string) bool {
	for j, w := range words {
		if i+j >= len(s.words) || s.words[i+j].text != w {
			return false
		}
	}
	return true
}
