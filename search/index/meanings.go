package index

import (
	"slices"
	"strings"
)

// light are words of questions that say little about what is asked, and something
// nevertheless: a definition may be called so.
var light = strings.Fields(`where how many which happens function functions method methods handle handled handles implemented
	made make turned taken put given decided understood chosen goes go going again first last new old several same
	different any all only also before after while until without between one two some`)

// alikes are words of programs that say about the same, a group a line.
const alikes = `
directory dir folder
url uri link href address
address addr ip host
header headers field fields
argument arg flag option param parameter
remove delete drop strip prune clean
parse read decode scan
connection conn socket dial
answer response reply
request req call
limit max bound
number num int count
text string str
executable command cmd binary program
random rand token
error err fail failure exception
quote quoted escape
start begin open launch spawn
stop close shutdown end quit exit
callback handler hook
list array slice sequence
map dict table hash
check verify validate test
wait sleep block join
concurrent parallel async
encrypted tls ssl
combine join merge resolve
save store write persist dump
copy duplicate clone
environment env
config configuration settings
password passwd secret credential auth
user username account
message msg
length len size bytes
convert translate transform
update change modify
find search lookup
show print display render
log logger logging
temporary temp tmp
redirect location
compare match equal
cut split trim truncate
retry repeat
seconds timeout delay duration
child process subprocess
server listen serve
client transport
kind type
media mime
version release
module package
script run exec
index position offset
create make new build
average mean
warn warning notice
`

// meant are words with those that say about the same.
func meant(words []string) []string {
	out := slices.Clone(words)
	for _, w := range words {
		for _, m := range meanings[w] {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// meanings gives the words that say about the same as a word.
var meanings = func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(alikes) {
		group := strings.Fields(line)
		for i, w := range group {
			for j, other := range group {
				if i != j {
					out[w] = append(out[w], other)
				}
			}
		}
	}
	return out
}()
