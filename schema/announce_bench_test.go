package schema

import (
	"strconv"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// BenchmarkAnnounces reads an answer of 4 KB that names none of 24 tools, as a
// gateway does with each.
func BenchmarkAnnounces(b *testing.B) {
	var tools []utp.Tool
	for i := range 24 {
		tools = append(tools, utp.Tool{Name: "tool_" + strconv.Itoa(i)})
	}
	text := strings.Repeat("I will use what stands in the file. ", 4<<10/36)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, ok := Announces(text, tools); ok {
			b.Fatal("announced")
		}
	}
}
