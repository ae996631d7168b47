package agent_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// readLines gives the lines of a list in testdata, comments aside.
func readLines(t *testing.T, name string) (out []string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.ReplaceAll(s.Text(), `\n`, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// contract: X-02 X-07
func TestQuestionsRaiseNothing(t *testing.T) {
	qs := append(readLines(t, "questions.txt"), readLines(t, "tongues_questions.txt")...)
	if len(qs) < 180 {
		t.Errorf("only %d questions", len(qs))
	}
	for _, q := range qs {
		o := agent.Raise(q, utp.TierWalk, utp.TierRun, agent.Intents())
		if o.Tier != utp.TierWalk || o.Word != "" {
			t.Errorf("%q raised to %s: %s", q, o.Tier, o.Why)
		}
	}
}

// contract: X-02
func TestOrdersRaise(t *testing.T) {
	orders := append(readLines(t, "orders.txt"), readLines(t, "tongues_orders.txt")...)
	if len(orders) < 150 {
		t.Errorf("only %d orders", len(orders))
	}
	for _, q := range orders {
		o := agent.Raise(q, utp.TierWalk, utp.TierRun, agent.Intents())
		if o.Tier != utp.TierRun || !strings.Contains(o.Why, o.Word) {
			t.Errorf("%q did not raise: %s", q, o.Why)
		}
	}
}

// contract: X-02 X-07
func TestRaiseStaysBelowTheCeiling(t *testing.T) {
	for _, c := range []struct {
		q             string
		from, ceiling utp.Tier
		want          utp.Tier
		why           string
	}{
		{"fix the typo in README", utp.TierWalk, utp.TierWalk, utp.TierWalk, "above the ceiling"},
		{"fix the typo in README", utp.TierCrawl, utp.TierRun, utp.TierRun, `"fix"`},
		{"fix the typo in README", utp.TierCrawl, utp.TierCrawl, utp.TierCrawl, "above the ceiling"},
		{"show me main.go", utp.TierCrawl, utp.TierRun, utp.TierWalk, `"show me"`},
		{"show me main.go", utp.TierWalk, utp.TierRun, utp.TierWalk, "nothing"},
		{"do not open main.go", utp.TierCrawl, utp.TierRun, utp.TierCrawl, "nothing"},
		{"who reopens threads?", utp.TierCrawl, utp.TierRun, utp.TierCrawl, "nothing"},
		{"hello", utp.TierRun, utp.TierWalk, utp.TierWalk, "nothing"},
		{"", utp.TierWalk, utp.TierRun, utp.TierWalk, "nothing"},
	} {
		o := agent.Raise(c.q, c.from, c.ceiling, agent.Intents())
		if o.Tier != c.want || !strings.Contains(o.Why, c.why) {
			t.Errorf("%q from %s to at most %s: %s (%s), want %s (%s)", c.q, c.from, c.ceiling, o.Tier, o.Why, c.want, c.why)
		}
	}
}

// contract: X-02
func TestTheTableCanBeChanged(t *testing.T) {
	mine := append(agent.Intents(), agent.Intent{Tier: utp.TierRun, Order: true, Words: []string{"korrigiere"}})
	if o := agent.Raise("Korrigiere den Tippfehler in README", utp.TierWalk, utp.TierRun, mine); o.Tier != utp.TierRun || o.Word != "korrigiere" {
		t.Errorf("%+v", o)
	}
	if o := agent.Raise("fix the typo", utp.TierWalk, utp.TierRun, nil); o.Tier != utp.TierWalk {
		t.Errorf("without a table: %+v", o)
	}
}

// contract: X-02
func TestRaiseNeverPassesTheCeiling(t *testing.T) {
	words := append(readLines(t, "orders.txt"), "`", "\"", "```", "?", ",", "’", "\x00", "\n", "it", "don't", "é\xff")
	rapid.Check(t, func(rt *rapid.T) {
		q := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(words), rapid.String())).Draw(rt, "question"), " ")
		o := agent.Raise(q, utp.TierCrawl, utp.TierWalk, agent.Intents())
		if o.Tier > utp.TierWalk || o.Why == "" {
			rt.Errorf("%+v", o)
		}
	})
}

// A long text around an order hides it neither before nor behind it, and is not read
// through: a megabyte is looked at as a page is.
func TestAnOrderAroundALongText(t *testing.T) {
	text := strings.Repeat("Nobody wants anything here, it is only said at length. ", 20_000)
	for question, want := range map[string]utp.Tier{"Fix the typo in this:\n" + text: utp.TierRun, text + "\nFix the typo in it.": utp.TierRun, text + "\nFix the typo.\n" + text: utp.TierWalk, text: utp.TierWalk} {
		if got := agent.Raise(question, utp.TierWalk, utp.TierRun, agent.Intents()).Tier; got != want {
			t.Errorf("%.30q…%q: %s, want %s", question, question[len(question)-30:], got, want)
		}
	}
	long := "Where is it?\n" + text
	few := testing.AllocsPerRun(3, func() { agent.Raise(long[:32<<10], utp.TierWalk, utp.TierRun, agent.Intents()) })
	if many := testing.AllocsPerRun(3, func() { agent.Raise(long, utp.TierWalk, utp.TierRun, agent.Intents()) }); many > 2*few {
		t.Errorf("%.0f allocations for a megabyte, %.0f for 32 KB", many, few)
	}
}
