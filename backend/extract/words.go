package extract

import (
	"strings"
	"unicode"
)

// maxWords is how many words of a question are searched for.
const maxWords = 16

// stopWords say nothing about code: English function words and what people
// write around a question.
var stopWords = setOf(`a about all an and any are as at be been but by can code codebase could did do does doing done
explain file files find for from get give had happen happens has have here how i if in into is it its know let
list look me more my of on one or our out over please project repo repository see shall should show so some tell
than that the their them then there these they thing this those to under up us use used uses using want was way we
were what what's when where where's which who why will with work works would you your`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// keywords are the words of a question that are worth a search, each once, as
// written. It is "" if there are none.
func keywords(question string) string {
	var words []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(question, outside) {
		w = strings.Trim(w, ".-/:'")
		low := strings.ToLower(w)
		if w == "" || stopWords[low] || seen[low] || len(words) == maxWords {
			continue
		}
		seen[low] = true
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// outside reports what no name, path or word has in it.
func outside(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:'", r)
}
