package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

func Example() {
	script, err := fake.Parse("hello.txtar", []byte(`Says hello. Shape: Ollama docs/api.md, "Chat request (no streaming)".
-- turn --
contains Anyone there?
-- text --
Hello!
`))
	if err != nil {
		panic(err)
	}
	mock := fake.New(script)
	server := httptest.NewServer(mock)
	defer server.Close()

	resp, err := http.Post(server.URL+"/api/chat", "application/json",
		strings.NewReader(`{"model":"any","stream":false,"messages":[{"role":"user","content":"Anyone there?"}]}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(body), `"content":"Hello!"`), mock.Requests()[0].Turn, mock.Err())
	// Output: true 1 <nil>
}
