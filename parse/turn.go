package parse

import (
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// token is a chat token, ready to match.
type token struct {
	grammar.ChatToken
	marker scan.Marker
}

// tokens are chat tokens, with the bytes that begin them.
type tokens struct {
	list []token
	hot  [256]bool
}

// chatTokens are those that end a turn, and those that begin one.
type chatTokens struct {
	ends, heads tokens
	hot         [256]bool // bytes that begin one of them
}

var chat = sync.OnceValue(func() *chatTokens {
	var c chatTokens
	for _, t := range grammar.ChatTokens() {
		of := &c.heads
		if t.Turn == grammar.EndsTurn {
			of = &c.ends
		}
		of.list = append(of.list, token{t, scan.Compile(t.Text)[0]})
		marker := of.list[len(of.list)-1].marker
		warm(&of.hot, []scan.Marker{marker})
		warm(&c.hot, []scan.Marker{marker})
	}
	return &c
})

// fit is the longest of the tokens that v begins with, and its length.
func (ts *tokens) fit(v scan.View) (best *token, n int, f scan.Found) {
	if v.S == "" || !ts.hot[v.S[0]] {
		return nil, 0, scan.No
	}
	for i := range ts.list {
		t := &ts.list[i]
		if !t.marker.Begins(v.S[0]) {
			continue
		}
		k, g := t.marker.Match(v, new(scan.Caps))
		if g == scan.Yes && t.Alone {
			g = body.LineEnd(v.From(k))
		}
		switch {
		case g == scan.More:
			f = scan.More
		case g == scan.Yes && f != scan.More && k > n:
			best, n, f = t, k, scan.Yes
		}
	}
	return best, n, f
}

// turn reports whether a turn of the conversation that the model invents begins
// at a line start after a call: the calls before it count, those in it do not.
// What others say in it is no part of the answer. In a turn of another speaker
// before any call, calls are shown.
func (p *Parser) turn() scan.Found {
	switch {
	case p.now.think != nil || p.now.message != nil || p.now.foreign:
		return scan.No
	case !p.now.called:
		return p.otherTurn()
	}
	v, n := p.view(), 0
	for {
		_, k, f := p.m.chat.ends.fit(v.From(n))
		if f == scan.More {
			return v.Ask()
		}
		if f == scan.No {
			break
		}
		blanks, _ := v.From(n + k).Blanks()
		n += k + blanks
	}
	head, _, f := p.m.chat.heads.fit(v.From(n))
	switch {
	case f == scan.More || n > 0 && n == len(v.S) && v.Ask() == scan.More:
		return v.Ask()
	case f == scan.Yes && p.cfg.Marks.Begin(v.From(n).S):
		return scan.No // the model's family writes it so
	case f == scan.Yes && !p.stillCalled():
		return scan.No
	case f == scan.Yes && head.Turn == grammar.OwnTurn:
		p.text()
		p.settleRest()
		p.st = inRest
	case f == scan.Yes:
		p.ignoreRest(notOurs(head.Text))
	}
	return f
}

// stillCalled reports whether a call was made, once the words before this place are
// known to follow it.
func (p *Parser) stillCalled() bool {
	p.text()
	return p.now.called
}

// notOurs is why nothing counts after a mark.
func notOurs(mark string) string {
	return "it stands after " + strings.TrimSpace(mark) + ", which is not the model's to say"
}

// ignoreRest makes all that follows no part of the answer.
func (p *Parser) ignoreRest(why string) {
	p.text()
	p.settleRest()
	p.now.leave()
	p.st, p.over = inRest, why
}

// otherTurn notes that a turn of another speaker begins.
func (p *Parser) otherTurn() scan.Found {
	v := p.view()
	head, _, f := p.m.chat.heads.fit(v)
	switch {
	case f == scan.More:
		return v.Ask()
	case f == scan.Yes && head.Turn == grammar.OtherTurn && !head.Alone && head.Text[0] != '#' && !p.cfg.Marks.Begin(v.S):
		p.now.foreign = true
	}
	return scan.No
}

// readRest passes everything on: as text or, where nothing counts any more, as
// markup.
func (p *Parser) readRest() bool {
	if p.pos = p.wholeRunes(); p.over == "" {
		p.text()
	} else if p.uncovered() > 0 {
		p.sendText(utp.EventMark, max(p.now.textPart, 0), p.over, p.take())
	}
	return false
}

// readDrop takes out what stands up to the closer of an opener.
func (p *Parser) readDrop() bool {
	s := p.rest()
	if at := strings.Index(s, p.dropTo); at >= 0 {
		p.pos += at + len(p.dropTo)
		p.mark()
		p.st = inText
		return true
	}
	p.pos += len(s) - overlap(s, p.dropTo)
	if p.end {
		p.pos = len(p.src)
	}
	p.mark()
	return false
}

// overlap is how much of the end of s may be the beginning of a mark that is not
// complete.
func overlap(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}
