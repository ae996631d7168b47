package agent

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// Tokens estimates how many tokens a text is: a token for 3.8 bytes, rounded
// up. Source: o200k_base on Go code gives 3.85.
func Tokens(text string) int { return (len(text)*10 + 37) / 38 }

// MessageTokens estimates a message: its parts and 4 for the frame around it.
func MessageTokens(m utp.Message) int {
	n := 4
	for _, p := range m.Parts {
		n += partTokens(p)
	}
	return n
}

func partTokens(p utp.Part) (n int) {
	switch p := p.(type) {
	case utp.Text:
		return Tokens(p.Text)
	case utp.Think:
		return Tokens(p.Text)
	case utp.Call:
		return Tokens(p.Name) + Tokens(string(p.Args)) + 8
	case utp.Result:
		for _, q := range p.Parts {
			n += partTokens(q)
		}
		return n + 8
	case utp.Blob:
		return 800
	case utp.Unknown:
		return Tokens(string(p.Raw))
	}
	return 0
}

// RequestTokens estimates the prompt of a request, tools included.
func RequestTokens(r *utp.Request) int {
	n := 0
	for _, m := range r.Messages {
		n += MessageTokens(m)
	}
	for _, t := range r.Tools {
		n += Tokens(t.Name) + Tokens(t.Description) + Tokens(string(t.Schema)) + 8
	}
	return n
}

// What Select always keeps where it fits.
const (
	pinFirst = 2
	pinLast  = 6
)

// block is messages that only make sense together: one message, or calls with
// their results.
type block struct{ from, to, tokens int }

// Select chooses the messages of a conversation that fit into a number of
// tokens: the first 2 and the last 6, then the middle from its newest. If the
// first and the last do not fit, the newest alone are kept. Calls and their
// results stay together; the order stays.
func Select(ms []utp.Message, tokens int) []utp.Message {
	blocks := blocksOf(ms)
	keep := make([]bool, len(blocks))
	left := tokens
	for i, b := range blocks {
		keep[i] = b.from < pinFirst || b.to > len(ms)-pinLast
		if keep[i] {
			left -= b.tokens
		}
	}
	if left < 0 {
		clear(keep)
		left = tokens
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		if keep[i] {
			continue
		}
		if blocks[i].tokens > left {
			break
		}
		keep[i], left = true, left-blocks[i].tokens
	}
	var out []utp.Message
	for i, b := range blocks {
		if keep[i] {
			out = append(out, ms[b.from:b.to]...)
		}
	}
	return out
}

// blocksOf cuts a conversation into blocks. A call without its result and a
// result without its call are left out: providers refuse them.
func blocksOf(ms []utp.Message) (out []block) {
	for i := 0; i < len(ms); {
		end := i + 1
		if len(ms[i].Calls()) > 0 {
			for end < len(ms) && ms[end].Role == utp.ToolRole {
				end++
			}
		}
		if paired(ms[i:end]) {
			b := block{from: i, to: end}
			for _, m := range ms[i:end] {
				b.tokens += MessageTokens(m)
			}
			out = append(out, b)
		}
		i = end
	}
	return out
}

// paired reports whether calls and results match one to one.
func paired(ms []utp.Message) bool {
	var calls, results []string
	for _, m := range ms {
		for _, c := range m.Calls() {
			calls = append(calls, c.ID)
		}
		for _, r := range m.Results() {
			results = append(results, r.CallID)
		}
	}
	slices.Sort(calls)
	slices.Sort(results)
	return slices.Equal(calls, results)
}
