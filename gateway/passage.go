package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// completes reports whether the answer is text written by a model, and so has tokens
// out.
func (x *exchange) completes() bool {
	return x.report.Operation == opPass && strings.HasSuffix(x.r.URL.Path, "/completions")
}

// booked reports whether a request that passes through is booked. Those that only count
// tokens or load a model are not.
func (x *exchange) booked() bool {
	return x.client != nil && x.client.key != nil && (x.report.Operation == opPass || x.report.Operation == opEmbed)
}

// limits are the fields that limit the tokens of a reply.
var limits = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

// weighty are the fields that determine what a request may cost.
var weighty = append([]string{"model", "options", "prompt", "n", "best_of"}, limits...)

// misspelt returns an error for a field that differs from a weighty one only in case, if
// the key is of the Ledger: servers written in Go accept it, others ignore it.
func (x *exchange) misspelt(all map[string]json.RawMessage) error {
	if x.client == nil || x.client.key == nil {
		return nil
	}
	for name := range all {
		for _, w := range weighty {
			if name != w && strings.EqualFold(name, w) {
				return &wire.InputError{Path: name, Offset: -1, Want: fmt.Sprintf("%q, in this spelling", w)}
			}
		}
	}
	return nil
}

// limited returns a request and how many tokens all its answers may have together. If
// it has no limit and the key has a budget of tokens or money, limited sets one.
func (x *exchange) limited(body []byte) (same []byte, limit int) {
	if !x.booked() || !x.completes() {
		return body, 0
	}
	all := fieldsOf(body) // nil without JSON: no limit
	each, answers := 0, max(number(all["n"]), number(all["best_of"]), 1)
	for _, name := range limits {
		each = max(each, number(all[name]))
	}
	answers = min(answers*prompts(all["prompt"]), mostOutput)
	switch {
	case each > 0:
	case all == nil || !x.client.key.Tokens():
		each = usualOutput
	default:
		each = x.Limits.Output
		for _, name := range limits {
			delete(all, name)
		}
		all[limits[0]] = fmt.Append(nil, each)
		if out, err := marshal(all); err == nil {
			body = out
			x.report.Lost = append(x.report.Lost, wire.Loss{Path: limits[0], What: fmt.Sprintf("the reply may have %d tokens", each), Why: "the key has a budget of tokens or money and the request no limit"})
		}
	}
	return body, min(each*answers, mostOutput)
}

// number returns the number in a field, at most mostOutput; 0 if it has none.
func number(field json.RawMessage) int {
	var n float64
	if json.Unmarshal(field, &n) != nil {
		return 0
	}
	return int(max(0, min(n, mostOutput)))
}

// prompts returns how many prompts a field holds: a text or a list of tokens is one, a
// list of these is many.
func prompts(field json.RawMessage) int {
	var all []json.RawMessage
	if json.Unmarshal(field, &all) != nil || len(all) == 0 || all[0][0] >= '0' && all[0][0] <= '9' {
		return 1
	}
	return len(all)
}

// bookPassage makes ready to book a request that passes through. limit is the most
// tokens of its answers.
func (x *exchange) bookPassage(to Target, limit int) (*booking, error) {
	if !x.booked() {
		return nil, nil
	}
	b, err := x.booking(to, x.report.Asked)
	if err != nil {
		return nil, err
	}
	b.output = limit
	return b, nil
}

// maxTail is how many bytes of the end of an answer are searched for its usage.
const maxTail = 64 << 10

// counting keeps the end of an answer that passes through.
type counting struct {
	from io.Reader
	tail []byte
	n    int
	err  error
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += n
	if c.tail = append(c.tail, b[:n]...); len(c.tail) > 2*maxTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTail:]...)
	}
	c.err = err
	return n, err
}

// usageJSON is a usage in the fields of OpenAI's API and of Ollama's.
type usageJSON struct {
	Prompt     int `json:"prompt_tokens"`
	Input      int `json:"input_tokens"`
	Completion int `json:"completion_tokens"`
	Output     int `json:"output_tokens"`
	Total      int `json:"total_tokens"`
	Evaluated  int `json:"prompt_eval_count"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// usage returns the usage that an answer reports, zero if none.
func (c *counting) usage() utp.Usage {
	var u usageJSON
	if !errors.Is(c.err, io.EOF) {
		return utp.Usage{}
	}
	if at := bytes.LastIndex(c.tail, []byte(`"usage"`)); at >= 0 {
		_, value, _ := bytes.Cut(c.tail[at:], []byte(":"))
		_ = json.NewDecoder(bytes.NewReader(value)).Decode(&u) // what cannot be read says nothing
	} else if at := bytes.LastIndex(c.tail, []byte(`"prompt_eval_count":`)); at >= 0 {
		_ = json.NewDecoder(bytes.NewReader(append([]byte("{"), c.tail[at:]...))).Decode(&u)
	}
	in, out := max(u.Prompt, u.Input, u.Evaluated), max(u.Completion, u.Output)
	if in == 0 && out == 0 {
		in = u.Total
	}
	cached := min(u.Details.Cached, in)
	return utp.Usage{Input: in - cached, CacheRead: cached, Output: out}
}

// endPassage settles a request that passed through.
func (b *booking) endPassage(c *counting) {
	if b != nil && b.output > 0 {
		b.said = min(b.output, c.n/3) // about, with what is around the text
	}
	b.close(c.usage())
}
