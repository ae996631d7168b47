package agent

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

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
			for end < len(ms) && ms[end].Role == utp.RoleTool {
				end++
			}
		}
		if paired(ms[i:end]) {
			b := block{from: i, to: end}
			for _, m := range ms[i:end] {
				b.tokens += m.Tokens()
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
