package sdktest

import (
	"github.com/unifiedtoolprotocol/utp"
)

// session is a conversation that a program has through an SDK, with nothing but
// the SDK's own types.
type session interface {
	// ask sends what was said so far, and keeps the reply in the conversation.
	ask(stream bool) (answer, error)
	// give puts the results of the last reply's calls into the conversation.
	give(texts []string)
}

// sdk is a vendor's library.
type sdk struct {
	name   string
	api    string // the front that it speaks to
	begin  func(url string, r *utp.Request) session
	stops  map[utp.Stop]string
	counts func(utp.Usage) (in, out int)
	errors bool // a result can say that it is a failure
	models func(url string) ([]string, error)
	fault  func(error) (fault, bool)                     // false: not of the SDK's own type
	kinds  map[int]string                                // the API's words for errors, by status; nil: it has none
	mute   map[int]bool                                  // errors whose message the SDK keeps to itself
	tokens func(url string, r *utp.Request) (int, error) // counts them; nil: the API cannot
	params func(*utp.Params)                             // takes out what the API has no field for
	loose  bool                                          // its type for tools holds only the beginnings of a schema
	lacks  map[string]string                             // conversations that it cannot have, and why
}

// fault is what a program gets of an error through an SDK.
type fault struct {
	Status  int    `json:"status"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

var sdks = []*sdk{
	chatSDK, responsesSDK, anthropicSDK, geminiSDK, ollamaSDK,
	npmChat, npmResponses, npmAnthropic, npmGemini, npmOllama,
	aiChat, aiResponses, aiAnthropic, aiGemini,
}

const noCustom = "there are no tools with free text"

// all counts the cached part as input, and reasoning as output.
func all(u utp.Usage) (in, out int) { return u.Prompt(), u.Completion() }

// words are a message's text and files.
func words(m utp.Message) (text string, files []utp.Blob) {
	for _, p := range m.Parts {
		if b, ok := p.(utp.Blob); ok {
			files = append(files, b)
		}
	}
	return m.Text(), files
}
