package wire

import "github.com/unifiedtoolprotocol/utp"

// Tokens of what cannot be measured by its text.
const (
	bytesPerToken = 4
	fileTokens    = 1000
	partTokens    = 4 // of a part's frame
)

// Estimate guesses how many tokens a request has, for servers that cannot count:
// one for four bytes of text, arguments and schemas, a thousand for a file.
func Estimate(r *utp.Request) int {
	bytes, more := 0, 0
	for _, t := range r.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
		more += partTokens
	}
	for _, m := range r.Messages {
		b, n := measure(m.Parts)
		bytes, more = bytes+b, more+n
	}
	return (bytes+bytesPerToken-1)/bytesPerToken + more
}

func measure(parts []utp.Part) (bytes, more int) {
	for _, p := range parts {
		more += partTokens
		switch p := p.(type) {
		case utp.Text:
			bytes += len(p.Text)
		case utp.Think:
			bytes += len(p.Text)
		case utp.Call:
			bytes += len(p.Name) + max(len(p.Args), len(p.RawArgs))
		case utp.Result:
			b, n := measure(p.Parts)
			bytes, more = bytes+b, more+n
		case utp.Blob:
			more += fileTokens
		case utp.Unknown:
			bytes += len(p.Raw)
		}
	}
	return bytes, more
}
