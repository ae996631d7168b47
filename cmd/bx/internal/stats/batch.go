package stats

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
)

// batch are the sums of the events that one transaction takes.
type batch struct {
	ctx     context.Context
	tx      *sql.Tx
	segment string
	unit    int64 // as Index.unit

	hours    map[hourKey]*hourSum
	tools    map[toolKey]*toolSum
	runs     map[runKey]int
	words    map[wordKey]int
	commands map[commandKey]*commandSum
}

type hourKey struct {
	hour                                           int64
	model, form, dialect, client, backend, outcome string
}

type hourSum struct{ replies, calls, fixes, again, failed, input, cached, output, took, first, firsts int64 }

type toolKey struct {
	hour                       int64
	model, form, name, dialect string
}

type toolSum struct{ good, bad, fixes, ran, failed, refused, took int64 }

type runKey struct {
	hour        int64
	model, name string
	bucket      int
}

type wordKey struct {
	hour              int64
	model, kind, word string
}

type commandKey struct {
	hour             int64
	agent, cmd, mode string
}

type commandSum struct{ n, tokens, saved, truncated, took int64 }

// Kinds of the words that are counted.
const (
	Fixes      = "fix"      // what was repaired
	Problems   = "problem"  // why calls could not be read
	Losses     = "loss"     // what of requests could not be passed on
	Invented   = "invented" // names of tools that were not offered
	Mismatches = "mismatch" // "native → hermes": the form asked for and the dialect seen
	Reasons    = "bad"      // why replies were bad
)

func (b *batch) reply(r record.Reply) error {
	outcome, why := record.Judge(&r)
	line, err := record.Append(nil, r)
	if err != nil {
		return err
	}
	if _, err := b.tx.ExecContext(b.ctx, "INSERT INTO replies (segment, id, time, model, outcome, line) VALUES (?,?,?,?,?,?)",
		b.segment, r.ID, r.Time.UnixMicro(), r.Model(), string(outcome), line); err != nil {
		return err
	}
	h, fixes := r.Time.Unix()/b.unit, 0
	for _, c := range r.Calls {
		fixes += len(c.Fixes)
	}
	at := sumOf(&b.hours, hourKey{h, r.Model(), r.Form, dialectOf(&r), r.Client, r.Backend, string(outcome)})
	*at = hourSum{at.replies + 1, at.calls + int64(len(r.Calls)), at.fixes + int64(fixes), at.again + one(r.Again != ""), at.failed + one(r.Status >= 400 || r.Status == 0),
		at.input + int64(r.Usage.Prompt()), at.cached + int64(r.Usage.CacheRead), at.output + int64(r.Usage.Completion()),
		at.took + int64(r.Took), at.first + int64(r.First), at.firsts + one(r.First > 0)}
	b.count(h, &r, why)
	return nil
}

// dialectOf is where a reply's call was found, or was tried: that of the first.
func dialectOf(r *record.Reply) string {
	if len(r.Calls) > 0 {
		return r.Calls[0].Source
	}
	for _, p := range r.Problems {
		if p.Dialect != "" {
			return p.Dialect
		}
	}
	return ""
}

// count takes what is counted by a word, and by the names of tools.
func (b *batch) count(h int64, r *record.Reply, why string) {
	word := func(kind, word string, n int) {
		if word != "" && n > 0 {
			if b.words == nil {
				b.words = map[wordKey]int{}
			}
			b.words[wordKey{h, r.Model(), kind, word}] += n
		}
	}
	word(Reasons, why, 1)
	for _, name := range r.Invented() {
		word(Invented, name, 1)
	}
	for _, l := range r.Losses {
		word(Losses, l.What, l.Count)
	}
	for _, p := range r.Problems {
		word(Problems, string(p.Kind), 1)
		if p.Name != "" {
			sumOf(&b.tools, toolKey{h, r.Model(), r.Form, p.Name, p.Dialect}).bad++
		}
	}
	for _, c := range r.Calls {
		for _, f := range c.Fixes {
			word(Fixes, f, 1)
		}
		if r.Mismatched(c) {
			word(Mismatches, r.Form+" → "+c.Source, 1)
		}
		if c.Outcome != "" && c.Refusal == "" {
			if b.runs == nil {
				b.runs = map[runKey]int{}
			}
			b.runs[runKey{h, r.Model(), c.Name, bucketOf(c.Took)}]++
		}
		t := sumOf(&b.tools, toolKey{h, r.Model(), r.Form, c.Name, c.Source})
		bad := c.Guessed || c.Hallucinated || c.Invalid
		*t = toolSum{t.good + one(!bad), t.bad + one(bad), t.fixes + int64(len(c.Fixes)), t.ran + one(c.Outcome != "" && c.Refusal == ""),
			t.failed + one(c.Outcome == utp.StatusFailed && c.Refusal == ""), t.refused + one(c.Refusal != ""), t.took + int64(c.Took)}
	}
}

func (b *batch) command(c record.Command) {
	at := sumOf(&b.commands, commandKey{c.Time.Unix() / b.unit, c.Agent, c.Cmd, string(c.Mode)})
	*at = commandSum{at.n + 1, at.tokens + int64(c.Tokens), at.saved + int64(c.Saved), at.truncated + one(c.Truncated), at.took + int64(c.Took)}
}

// bucketOf sorts a time among those that differ from it by less than a tenth, and
// midOf is one of these.
func bucketOf(took record.Micros) int { return int(8 * math.Log2(float64(max(1, took)))) }

func midOf(bucket int) time.Duration {
	return record.Micros(math.Exp2((float64(bucket) + 0.5) / 8)).Duration()
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// sumOf is the sum of a key, made where there is none.
func sumOf[K comparable, S any](m *map[K]*S, key K) *S {
	if *m == nil {
		*m = map[K]*S{}
	}
	s := (*m)[key]
	if s == nil {
		s = new(S)
		(*m)[key] = s
	}
	return s
}

// write adds the sums to the index.
func (b *batch) write() error {
	add := func(query string, args ...any) error {
		_, err := b.tx.ExecContext(b.ctx, query, append([]any{b.segment}, args...)...)
		return err
	}
	for k, s := range b.hours {
		if err := add(`INSERT INTO hours VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
			replies = replies + excluded.replies, calls = calls + excluded.calls, fixes = fixes + excluded.fixes, again = again + excluded.again,
			failed = failed + excluded.failed, input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output,
			took = took + excluded.took, first = first + excluded.first, firsts = firsts + excluded.firsts`,
			k.hour, k.model, k.form, k.dialect, k.client, k.backend, k.outcome, s.replies, s.calls, s.fixes, s.again, s.failed, s.input, s.cached, s.output, s.took, s.first, s.firsts); err != nil {
			return err
		}
	}
	for k, s := range b.tools {
		if err := add(`INSERT INTO tools VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET good = good + excluded.good, bad = bad + excluded.bad,
			fixes = fixes + excluded.fixes, ran = ran + excluded.ran, failed = failed + excluded.failed, refused = refused + excluded.refused, took = took + excluded.took`,
			k.hour, k.model, k.form, k.name, k.dialect, s.good, s.bad, s.fixes, s.ran, s.failed, s.refused, s.took); err != nil {
			return err
		}
	}
	for k, n := range b.runs {
		if err := add(`INSERT INTO runs VALUES (?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n`, k.hour, k.model, k.name, k.bucket, n); err != nil {
			return err
		}
	}
	for k, n := range b.words {
		if err := add(`INSERT INTO words VALUES (?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n`, k.hour, k.model, k.kind, k.word, n); err != nil {
			return err
		}
	}
	for k, s := range b.commands {
		if err := add(`INSERT INTO commands VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n, tokens = tokens + excluded.tokens,
			saved = saved + excluded.saved, truncated = truncated + excluded.truncated, took = took + excluded.took`,
			k.hour, k.agent, k.cmd, k.mode, s.n, s.tokens, s.saved, s.truncated, s.took); err != nil {
			return err
		}
	}
	return nil
}
