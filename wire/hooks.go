package wire

import "github.com/unifiedtoolprotocol/utp"

// Hooks are for one request to a provider what goes beside its reply. Nil
// functions are not called.
type Hooks struct {
	Form  string                      // the form of this conversation's tools, a word of package format or a dialect; "", or an unknown one: as the backend is set
	Whole bool                        // ask for the reply in one piece
	Once  bool                        // whoever asks decides about another try: the backend makes none
	Warn  func(string)                // for people: what may go wrong
	Lost  func([]Loss)                // what the provider cannot be told
	Told  func(form, why string)      // in which form the model is told of tools: "native", a dialect or "none", and who decided
	Dump  func(sent, received []byte) // raw bodies, one of the two
	Idle  func()                      // all that has come was given out, and more may take time
	Send  func(body []byte) error     // before each request to the provider; an error ends the asking with it, and nothing is sent
	Spent func(utp.Usage)             // a reply that was of no use and is asked for once more came to so much; the usage at the end has it in it
}
