package wire

import "slices"

// efforts are the budgets for reasoning, in tokens, that stand for the words of
// Params.Effort, smallest first.
var efforts = []struct {
	word   string
	budget int
}{{"none", 0}, {"minimal", 1024}, {"low", 4096}, {"medium", 10240}, {"high", 24576}, {"xhigh", 32768}, {"max", 65536}}

// Budget is an effort in tokens for providers that want a number; 0 is none, and
// of a word that is not known ok is false.
func Budget(effort string) (tokens int, ok bool) {
	i := rank(effort)
	if i < 0 {
		return 0, false
	}
	return efforts[i].budget, true
}

// Effort is the word for a budget: the smallest effort that has as much.
func Effort(tokens int) string {
	for _, e := range efforts {
		if tokens <= e.budget {
			return e.word
		}
	}
	return "max"
}

// NearestEffort is the one of takes that is nearest to an effort, of two equally
// near ones the lesser; a word that is not known counts as medium. "none" is given
// for "none" alone: where takes has nothing else it is "".
func NearestEffort(effort string, takes []string) (nearest string) {
	if slices.Contains(takes, effort) {
		return effort
	}
	want := rank(effort)
	if want < 0 {
		want = rank("medium")
	}
	best := len(efforts)
	for i, e := range efforts[1:] {
		if far := max(i+1-want, want-i-1); far < best && slices.Contains(takes, e.word) {
			nearest, best = e.word, far
		}
	}
	return nearest
}

func rank(effort string) int {
	for i, e := range efforts {
		if e.word == effort {
			return i
		}
	}
	return -1
}
