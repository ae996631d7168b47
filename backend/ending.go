package backend

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// endings are the tokens with which models end a turn, each with one "<" at its
// beginning and a ">" at its end. Some servers leave the last one in the text.
// Sources: ChatML; Llama 2, 3 and 4; Mistral; GPT-NeoX and Qwen; Gemma; Phi;
// Command R; OpenChat; DeepSeek, as their tokenizers name them.
var endings = []string{
	"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|end_of_text|>", "</s>", "<|endoftext|>",
	"<end_of_turn>", "<eos>", "<|end|>", "<|END_OF_TURN_TOKEN|>", "<|end_of_turn|>", "<｜end▁of▁sentence｜>",
}

// maxRun is how long a run of such tokens may be in bytes. A model that writes
// more has gone astray, and is seen to.
const maxRun = 1 << 10

// ending takes such tokens off the end of a reply, before the text is read for
// calls: what stands behind a call decides whether it is one. Anywhere else they
// are text, and </s> is, too, where <s> stands before it.
type ending struct {
	hold   utp.Event // text that may be the end, or become it
	last   string    // up to two bytes of text before
	struck bool      // <s> stood in the text
	loop   bool      // hold is the rest of a run that was too long
	out    []utp.Event
}

// event gives the events to pass on for e, valid until the next call.
func (d *ending) event(e utp.Event) []utp.Event {
	d.out = d.out[:0]
	switch {
	case e.Kind == utp.TextDelta && e.Part == d.hold.Part:
		d.text(e)
	case e.Kind == utp.TextDelta:
		d.flush()
		d.text(e)
	default:
		if e.Kind == utp.Finish && !d.loop && d.at(d.hold.Text, false) == 0 {
			d.hold.Text = ""
		}
		d.flush()
		d.out = append(d.out, e)
	}
	return d.out
}

func (d *ending) text(e utp.Event) {
	if d.last != "" || strings.IndexByte(e.Text, '<') >= 0 {
		d.strike(d.last + e.Text)
	}
	e.Text = d.hold.Text + e.Text
	at := d.at(e.Text, true)
	d.hold = e
	d.hold.Text = e.Text[at:]
	if d.loop = d.loop && at == 0; len(d.hold.Text) > maxRun {
		last := strings.LastIndexByte(d.hold.Text, '<')
		at, d.hold.Text, d.loop = at+last, d.hold.Text[last:], true
	}
	if e.Text = e.Text[:at]; e.Text != "" {
		d.hold.Extra = nil
		d.out = append(d.out, e)
	}
}

// strike looks for <s> in the text so far, of which two bytes may begin one.
func (d *ending) strike(seen string) {
	d.struck = d.struck || strings.Contains(seen, "<s>")
	d.last = ""
	for _, head := range []string{"<s", "<"} {
		if strings.HasSuffix(seen, head) {
			d.last = head
		}
	}
}

func (d *ending) flush() {
	if d.hold.Text != "" {
		d.out = append(d.out, d.hold)
	}
	d.hold.Text = ""
}

// at is where the tokens at the end of text begin, the last of them maybe not
// complete yet; the end of text if there are none.
func (d *ending) at(text string, growing bool) int {
	at := len(text)
	if i := strings.LastIndexByte(text, '<'); growing && i >= 0 && begins(text[i:]) {
		at = i
	}
	for {
		head := strings.TrimRight(text[:at], " \t\r\n")
		token := d.token(head)
		if token == "" {
			return at
		}
		at = len(head) - len(token)
	}
}

// begins reports whether a token may become of s.
func begins(s string) bool {
	return slices.ContainsFunc(endings, func(token string) bool { return len(s) < len(token) && token[:len(s)] == s })
}

// token is the one that text ends in, if any.
func (d *ending) token(text string) string {
	if !strings.HasSuffix(text, ">") {
		return ""
	}
	for _, token := range endings {
		if strings.HasSuffix(text, token) && !(token == "</s>" && d.struck) {
			return token
		}
	}
	return ""
}
