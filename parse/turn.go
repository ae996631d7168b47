package parse

import "strings"

// turnLines are lines with which a model that was not stopped goes on with the
// conversation by itself.
var turnLines = []string{"assistant", "user", "human", "system", "<|im_start|>assistant", "<|im_start|>user", "<|im_start|>system", "<|im_start|>tool"}

// turnHeads are beginnings of such lines.
var turnHeads = []string{
	"### instruction", "### input", "### response", "### user", "### human", "### assistant", "### question",
	"[inst]", "<start_of_turn>", "<|start_header_id|>", "<|eot_id|><|start_header_id|>", "<|eot_id|>\n<|start_header_id|>", "<|user|>", "<|assistant|>", "<|observation|>", "human:", "user:", "observation:",
}

// turn reports whether an invented turn of the conversation begins at a line
// start behind a call: the calls before it count, those in it do not.
func (p *Parser) turn() found {
	if !p.called || p.think != nil || p.message != nil {
		return no
	}
	v, waits := p.view(), no
	for _, head := range turnHeads {
		if _, f := matchLiteral(v.s, head); f != no {
			waits = max(waits, f)
			p.invented = p.invented || f == yes && strings.Contains(head, "observation")
		}
	}
	for _, line := range turnLines {
		n, f := matchLiteral(v.s, line)
		if f == yes {
			f = lineEnd(v.from(n))
		}
		waits = max(waits, f)
	}
	if waits == more {
		return v.ask()
	}
	if waits == yes {
		p.text()
		p.st = inRest
	}
	return waits
}

// lineEnd reports whether nothing but blanks stands on the rest of the line.
func lineEnd(v view) found {
	rest := strings.TrimLeft(v.s, " \t\r")
	switch {
	case rest == "" && v.end:
		return yes
	case rest == "":
		return v.ask()
	case rest[0] == '\n':
		return yes
	}
	return no
}

// readRest passes everything on as text, but for an invented result and what
// follows from it: that is markup.
func (p *Parser) readRest() bool {
	p.pos = p.wholeRunes()
	if p.invented {
		p.mark()
	} else {
		p.text()
	}
	return false
}
