package agent

import (
	"regexp"
	"strings"
	"unicode"
)

// word is a word of a question.
type word struct {
	text  string // lower case
	file  bool   // looks like a file, or stands for quoted text
	pause bool   // a comma, a colon or a dash follows
}

type sentence struct {
	words    []word
	question bool // ends in a question mark
}

var quoted = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")

// sentences cuts a question into sentences. Quoted text and code become one
// word each: what they say is not said by the user.
func sentences(question string) (out []sentence) {
	question = quoted.ReplaceAllString(strings.ReplaceAll(question, "’", "'"), " \x00 ")
	for line := range strings.Lines(question) {
		var s sentence
		for _, field := range strings.Fields(line) {
			w, end := readWord(field)
			if w.text != "" {
				s.words = append(s.words, w)
			} else if n := len(s.words); n > 0 {
				s.words[n-1].pause = true
			}
			if end != 0 {
				s.question = end == '?'
				out, s = append(out, s), sentence{}
			}
		}
		out = append(out, s)
	}
	return out
}

// readWord takes the marks off a field. end is the mark that ends a sentence.
func readWord(field string) (w word, end rune) {
	text := strings.TrimRight(strings.TrimLeft(field, "([{<*-#>'¿¡«"), "…»")
	for text != "" {
		last := rune(text[len(text)-1])
		if !strings.ContainsRune(".,!?;:)]}'*-", last) {
			break
		}
		switch last {
		case ',', ':', '-':
			w.pause = true
		case '.', '!', '?', ';':
			end = last
		}
		text = text[:len(text)-1]
	}
	w.text = strings.ToLower(text)
	w.file = text == "\x00" || strings.ContainsAny(text, "./\\") || shouts(text) || w.text == "file" || w.text == "files"
	return w, end
}

// shouts reports a name in capitals: README.
func shouts(s string) bool {
	return len(s) > 3 && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsUpper(r) && r != '_' }) < 0
}

// lead is words before the verb of an order.
type lead struct {
	text   string
	polite bool
}

// leads has longer phrases before the shorter ones they begin with.
var leads = []lead{
	{"can you", true}, {"could you", true}, {"would you", true}, {"will you", true},
	{"i want you to", true}, {"i need you to", true}, {"i would like you to", true}, {"i'd like you to", true},
	{"go ahead and", true}, {"go and", true}, {"make sure to", true}, {"try to", true}, {"help me to", true}, {"help me", true},
	{"let's", false}, {"lets", false}, {"let us", false},
	{"please", false}, {"kindly", false}, {"just", false}, {"quickly", false}, {"now", false}, {"then", false}, {"next", false},
	{"first", false}, {"finally", false}, {"also", false}, {"and", false}, {"so", false}, {"instead", false},
	{"ok", false}, {"okay", false}, {"hey", false}, {"hi", false}, {"hello", false}, {"bx", false},
}

var (
	askers = []string{"how", "what", "what's", "where", "where's", "why", "who", "who's", "whom", "whose", "which", "when", "is", "are",
		"was", "were", "do", "does", "did", "am", "has", "have", "had", "should", "shall", "may", "might", "must", "can", "could", "will", "would"}
	negations     = []string{"not", "never", "no", "without", "avoid", "neither", "nor", "dont", "cannot"}
	nothings      = []string{"nothing", "anything", "no", "none", "not", "rien", "nada"}
	contrasts     = []string{"but", "instead", "just", "however", "then", "rather"}
	joiners       = []string{"and", "then", "but", "also"}
	subordinators = []string{"how", "why", "to", "if", "whether", "when", "that", "who", "what", "should", "can", "could", "would", "i", "we"}
	objects       = []string{"it", "them", "the", "a", "an", "this", "that", "these", "those", "all", "any", "every", "each", "my", "our", "its", "some"}
)
