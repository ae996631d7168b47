package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readAfter waits for the closer of a balanced call.
func (p *Parser) readAfter() bool {
	if p.cur.plain {
		return p.readLineEnd()
	}
	if !p.skipBlanks() {
		return false
	}
	v := p.view()
	if v.S == "" {
		if p.cut && p.needsCloser() {
			p.truncated()
			return true
		}
		p.lostCloser()
		return true
	}
	if p.cur.ticks > 0 {
		n, f := scan.MatchLiteral(v.S, "```"[:p.cur.ticks])
		if f == scan.More && v.Ask() == scan.More {
			return false
		}
		p.pos += n
		p.cur.ticks = 0
		return true
	}
	if p.cur.g.segments() && !p.cur.headed {
		return p.readHead(v)
	}
	n, f := scan.Longest(p.ownClosers(), v, nil)
	switch {
	case f == scan.More:
		return false
	case f == scan.Yes:
		p.pos += n
		p.finishClosed()
		return true
	}
	switch scan.Fits(p.cur.g.after, v) {
	case scan.More:
		return false
	case scan.Yes:
		p.lostCloser()
		return true
	}
	return p.afterJunk(v)
}

// segments reports whether a text follows the object of a call, as one argument
// more.
func (g *gram) segments() bool { return g.Body == grammar.JSON && len(g.arg.open) > 0 }

// readHead takes the end of such an object, and begins the text after it.
func (p *Parser) readHead(v scan.View) bool {
	n, f := scan.Longest(p.cur.g.arg.open, v, nil)
	if f == scan.No {
		p.broken("the header is not closed", p.cur.g.Arg.Open)
		return true
	}
	line, more1 := body.LineBreak(v.From(n))
	if f == scan.More || more1 == scan.More {
		return false
	}
	_, text := v.From(n).Blanks()
	shut := scan.Fits(p.ownClosers(), text)
	if text.S == "" && text.Ask() == scan.More || shut == scan.More {
		return false
	}
	p.pos += n
	p.cur.headed = true
	if key := p.openText(); shut == scan.No && text.S != "" && key != "" {
		p.pos += line
		p.openPlain(key)
	}
	return true
}

// openText is the argument that a text after a header gives: the first of the
// tool that is text and not given yet.
func (p *Parser) openText() string {
	c := &p.cur
	for _, key := range p.tools.Order(c.name) {
		if p.tools.Kind(c.name, key).Text() && !slices.Contains(c.keys, key) {
			return key
		}
	}
	if c.declared || slices.Contains(c.keys, c.g.Text) {
		return ""
	}
	return c.g.Text
}

// readLineEnd sees that a call f(…) which stands as ordinary text ends its
// line: words after it make it a mention.
func (p *Parser) readLineEnd() bool {
	s := p.rest()
	n := 0
	for n < len(s) && (s[n] == ' ' || s[n] == '\t' || s[n] == '\r') {
		n++
	}
	v := p.viewAt(p.pos + n)
	f := scan.Yes
	if p.reads == othersText {
		n = 0
	} else if v.S != "" && strings.IndexByte("\n,;])#", v.S[0]) < 0 {
		f = scan.Fits(p.m.closers, v)
	} else if v.S == "" && !v.End {
		f = scan.More
	}
	if f == scan.No && v.S[0] == '[' && p.inList() {
		f = p.lookPython(v.From(1), true)
	}
	if f == scan.Yes && p.cur.el.alone && p.reads != callText && len(p.cur.el.guessed()) > 0 {
		f = p.soleCall()
	}
	switch {
	case f == scan.No:
		p.cur.el.kept = false // a mention
		p.broken("unexpected text after the call", "the end of the line")
	case f == scan.Yes && p.cur.el.printed && v.S != "" && v.S[0] == ')':
		p.pos += n + 1
		p.cur.el.printed = false
	case f == scan.Yes:
		p.cur.plain = false
		p.finish()
	}
	return f != scan.More
}

// ownClosers are the closers of the open call itself.
func (p *Parser) ownClosers() []scan.Marker {
	if p.cur.direct {
		return nil
	}
	return p.cur.closers
}

// lostCloser ends a call whose closer is missing.
func (p *Parser) lostCloser() {
	p.lostCloserFix()
	p.finish()
}

// lostCloserFix notes that the call's closer is missing, where one was due.
func (p *Parser) lostCloserFix() {
	if p.closerDue() {
		p.fix("", "", "", "missing closer")
	}
}

// needsCloser reports whether the open call has a closer that it may not lack.
func (p *Parser) needsCloser() bool {
	return len(p.ownClosers()) > 0 && p.cur.g.Call.Close != ""
}

// closerDue reports whether the open call must end in a closer. Forms of ordinary
// lines are closed by what the server stops at.
func (p *Parser) closerDue() bool { return p.needsCloser() && !p.cur.g.Line }

// invents reports whether the closers of g are none that the dialect writes
// ("Observation:"): there begins what the model invents.
func (g *gram) invents() bool { return g.Line && g.Call.Close == "" }

// finishClosed ends a call at its own closer.
func (p *Parser) finishClosed() {
	invents := p.cur.g.invents()
	p.finish()
	switch {
	case p.cur.open:
	case invents && p.tries.holding() && p.tries.last().place.manner == labelled:
		p.settlePlace(false)
		p.st = inText
	case invents && p.reads == othersText:
	case invents:
		p.mark()
		p.ignoreRest(notOurs(p.cur.g.Results().Open))
	case p.st == inGap && p.block.group == nil:
		p.st = inTail
	}
}

// afterJunk meets something else than the closer after a balanced call.
func (p *Parser) afterJunk(v scan.View) bool {
	own := p.ownClosers()
	switch v.S[0] {
	case ',', ';', '{', '[', '(':
		p.finish()
		return true
	case ']':
		if len(own) == 0 {
			p.finish()
			return true
		}
		if p.block.lists > 0 {
			p.block.lists--
			p.pos++
			return true
		}
		p.surplus(v)
		return true
	case '}', ')':
		if v.S[0] == ')' && p.cur.el.printed {
			p.pos++
			p.cur.el.printed = false
			return true
		}
		p.surplus(v)
		return true
	}
	return p.textBehind(own, v)
}

// surplus drops a bracket that closes nothing.
func (p *Parser) surplus(v scan.View) {
	p.fix("", v.S[:1], "", "surplus closer")
	p.pos++
}

// textBehind drops text between a balanced call and its closer, if that comes
// soon.
func (p *Parser) textBehind(own []scan.Marker, v scan.View) bool {
	for i := 0; i < len(v.S) && i < scan.MaxSlot; i++ {
		if !p.cur.g.skipHot[v.S[i]] {
			continue
		}
		n, f := scan.Longest(own, v.From(i), nil)
		if f == scan.No && len(own) > 0 {
			f = p.callBehind(v, i)
			if f == scan.Yes {
				return true
			}
		}
		switch f {
		case scan.More:
			return false
		case scan.Yes:
			p.guess("", v.S[:i], "", "text after the call dropped")
			p.pos += i + n
			p.finishClosed()
			return true
		}
	}
	if len(own) > 0 && len(v.S) < scan.MaxSlot && !v.End {
		return false
	}
	if p.cutMarker(own, v) {
		p.pos = len(p.src)
		p.truncated()
		return true
	}
	p.lostCloser()
	if p.st == inGap && p.block.group == nil {
		p.endBlock(false)
	}
	return true
}

// cutMarker reports whether the output was cut off in one of the markers.
func (p *Parser) cutMarker(list []scan.Marker, v scan.View) bool {
	return p.cut && v.End && v.S != "" && scan.Fits(list, scan.ViewOf(v.S, false, v.Work)) == scan.More
}

// callBehind ends a call that lacks its closer before the opener of another, i bytes
// on: signs between them that are no words belong to neither.
func (p *Parser) callBehind(v scan.View, i int) scan.Found {
	f := scan.Fits(p.cur.g.skipOpen, v.From(i))
	if f != scan.Yes {
		return f
	}
	if junk := strings.TrimSpace(v.S[:i]); junk != "" && !strings.ContainsFunc(junk, scan.IsLetter) {
		p.guess("", junk, "", "text after the call dropped")
		p.pos += i
	}
	p.lostCloser()
	if p.st == inGap && p.block.group == nil {
		p.endBlock(false)
	}
	return scan.Yes
}

// soleCall reports whether a call with words that lack their quotes is all of the
// reply.
func (p *Parser) soleCall() scan.Found {
	_, v := p.view().Blanks()
	switch {
	case v.S == "" && v.End:
		return scan.Yes
	case v.S == "":
		return v.Ask()
	}
	return scan.No
}
