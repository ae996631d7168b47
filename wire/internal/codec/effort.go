package codec

// efforts are the budgets for reasoning, in tokens, that stand for the words of
// Params.Effort, smallest first.
var efforts = []struct {
	word   string
	budget int
}{{"minimal", 1024}, {"low", 4096}, {"medium", 10240}, {"high", 24576}, {"xhigh", 32768}, {"max", 65536}}

// Budget is an effort in tokens for providers that want a number; 0 is none, and
// of a word that is not known ok is false.
func Budget(effort string) (tokens int, ok bool) {
	if effort == "none" {
		return 0, true
	}
	for _, e := range efforts {
		if e.word == effort {
			return e.budget, true
		}
	}
	return 0, false
}

// Effort is the word for a budget: the smallest effort that has as much.
func Effort(tokens int) string {
	if tokens <= 0 {
		return "none"
	}
	for _, e := range efforts {
		if tokens <= e.budget {
			return e.word
		}
	}
	return "max"
}
