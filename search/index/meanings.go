package index

import (
	_ "embed"
	"strings"
)

// light are words of questions that say little about what is asked, and something
// nevertheless: a definition may be called so.
var light = strings.Fields(`where how many which happens function functions method methods handle handled handles implemented
	made make turned taken put given decided understood chosen goes go going again first last new old several same
	different any all only also before after while until without between one two some`)

// alikes has a line for a word of questions, in order: the words by which programs
// call what it may mean.
//
//go:embed meanings.txt
var alikes string

// meanings gives the words by which programs call what a word of a question may
// mean. One with an ending means what it means without.
func meanings(word string) []string {
	for _, w := range stems(word) {
		if _, after, ok := strings.Cut(alikes, "\n"+w+": "); ok {
			line, _, _ := strings.Cut(after, "\n")
			return strings.Fields(line)
		}
	}
	return nil
}

// stems are a word and what it may be without its ending.
func stems(word string) []string {
	out := []string{word}
	for _, e := range [...]string{"ies y", "s", "es", "ed", "ed e", "d", "ing", "ing e", "er", "r", "ly"} {
		end, put, _ := strings.Cut(e, " ")
		if stem, cut := strings.CutSuffix(word, end); cut && len(stem) > 2 {
			out = append(out, stem+put)
			if n := len(stem); stem[n-1] == stem[n-2] {
				out = append(out, stem[:n-1])
			}
		}
	}
	return out
}
