package line

import (
	"io"
	"strings"
	"unicode"
)

// press acts on a key. done: the text is over, or nobody wants it.
func (r *reading) press(k key) (done bool, err error) {
	r.below = nil
	if r.find != nil {
		if used, done := r.search(k); used {
			if !done {
				r.refresh(true)
			}
			return done, nil
		}
	}
	was := saved{r.text, r.at}
	if r.prefix {
		r.prefix = false
		if k.name == "ctrl-e" || k.text == "e" {
			r.edit()
		}
	} else if done, err = r.act(k); done {
		return true, err
	}
	if r.text != was.text && k.name != "ctrl-_" {
		r.past = append(r.past, was)
		r.past = r.past[max(len(r.past)-maxPast, 0):]
	}
	if len(r.ahead) == 0 {
		r.refresh(true)
	}
	return false, nil
}

func (r *reading) act(k key) (done bool, err error) {
	switch k.name {
	case "":
		r.put(printable(k.text))
	case pasted:
		r.put(printable(newlines(k.text)))
	case "ctrl-m":
		return r.enter(), nil
	case "newline":
		r.put("\n")
	case "ctrl-c":
		return r.interrupt()
	case "ctrl-d":
		if r.text == "" {
			r.leave("")
			return true, io.EOF
		}
		r.remove(r.at, r.right())
	case "ctrl-z":
		r.leave(r.text)
		r.Terminal.suspend()
	case "ctrl-l":
		io.WriteString(r.Out, "\x1b[H\x1b[2J")
		r.drawn = layout{}
	case "tab":
		r.complete()
	case "ctrl-r":
		r.find = &search{at: r.History.Len()}
	case "ctrl-x":
		r.prefix = true
	case "up", "ctrl-p", "down", "ctrl-n":
		r.vertically(k.name == "up" || k.name == "ctrl-p")
	default:
		r.move(k.name)
		r.change(k.name)
	}
	return false, nil
}

// move is a key that moves the cursor.
func (r *reading) move(name string) {
	switch name {
	case "left", "ctrl-b":
		r.at = r.left()
	case "right", "ctrl-f":
		r.at = r.right()
	case "home", "ctrl-a":
		r.at = r.home()
	case "end", "ctrl-e":
		r.at = r.end()
	case "word-left":
		r.at = r.wordLeft()
	case "word-right":
		r.at = r.wordRight()
	case "top":
		r.at = 0
	case "bottom":
		r.at = len(r.text)
	}
}

// change is a key that changes the text.
func (r *reading) change(name string) {
	switch name {
	case "backspace", "ctrl-h":
		r.remove(r.left(), r.at)
	case "delete":
		r.remove(r.at, r.right())
	case "ctrl-k":
		r.kill(r.end())
	case "ctrl-u":
		r.kill(r.home())
	case "ctrl-w":
		r.kill(r.blankLeft())
	case "delete-word":
		r.kill(r.wordRight())
	case "ctrl-y":
		r.put(r.cut)
	case "ctrl-_":
		r.undo()
	}
}

func (r *reading) put(s string) {
	if !r.insert(s) {
		r.below = []string{"this is too long: put it into a file and name it with @"}
	}
}

// enter ends the text, or begins a new line of it.
func (r *reading) enter() (done bool) {
	switch {
	case r.at == len(r.text) && strings.HasSuffix(r.text, `\`) && !strings.HasSuffix(r.text, `\\`):
		r.remove(r.at-1, r.at)
		r.put("\n")
	case fenceOpen(r.text):
		r.at = len(r.text)
		r.put("\n")
	default:
		r.leave(r.text)
		return true
	}
	return false
}

// interrupt gives the text up; on an empty one it asks to leave.
func (r *reading) interrupt() (done bool, err error) {
	if r.text == "" {
		r.leave("")
		return true, ErrInterrupted
	}
	r.leave(r.text)
	r.set("")
	r.past, r.browsed = nil, r.History.Len()
	return false, nil
}

// vertically moves between lines, and beyond them through the history.
func (r *reading) vertically(up bool) {
	by := 1
	if up {
		by = -1
	}
	if at, ok := r.vertical(by); ok {
		r.at = at
		return
	}
	to := r.browsed + by
	if to < 0 || to > r.History.Len() {
		return
	}
	if r.browsed == r.History.Len() {
		r.fresh = r.text
	}
	r.browsed = to
	if to == r.History.Len() {
		r.set(r.fresh)
		return
	}
	r.set(r.History.At(to))
}

// edit lends the text to the user's editor.
func (r *reading) edit() {
	if r.Edit == nil {
		return
	}
	r.leave(r.text)
	end := r.Terminal.Lend()
	text, err := r.Edit(r.text)
	end()
	if err != nil {
		r.below = []string{err.Error()}
		return
	}
	r.set(printable(newlines(strings.TrimRight(text, "\n"))))
}

func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// printable leaves out control characters: they would only be in the way.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
