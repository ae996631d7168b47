package format

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// MaxText is how much of a reply's text Left is worth, in bytes, from its beginning.
const MaxText = 16 << 10

// Left reports what the text of a reply has of calls that were not made: markup of
// a dialect, and words by which the model says that it will use one of the tools.
func Left(text string, tools []utp.Tool) (markup, announced bool) {
	_, _, announced = schema.Announces(text, tools)
	return grammar.Marked(text), announced
}
