package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/tool"
)

func Example() {
	s, err := tool.New(tool.Config{Root: "testdata/example"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, c := range []utp.Call{
		{Name: "search_code", Args: json.RawMessage(`{"query":"connect","limit":1}`)},
		{Name: "read_file", Args: json.RawMessage(`{"path":"../secret"}`)},
	} {
		r := s.Run(context.Background(), c)
		fmt.Println(r.Status)
		fmt.Println(r.Text())
	}
	// Output:
	// ok
	// # TE_BEGIN_META
	// {"v":1,"cmd":"search","matches":2,"truncated":true,"handle":"res_17e8085851e0","content_type":"code/python"}
	// # TE_END_META
	//
	// pool.py:1: def connect(url):
	//
	// # TE: 1 more in ./
	//
	// denied
	// Path escapes repository boundary: ../secret
}
