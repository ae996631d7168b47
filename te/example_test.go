package te_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/te"
)

func Example() {
	r := te.Result{
		Meta: te.Meta{Cmd: "search"},
		Matches: []te.Match{
			{Path: "rag/database.py", Line: te.Line{N: 89, Text: "database_connection.execute("}},
			{Path: "rag/database.py", Line: te.Line{N: 42, Text: "def database_connection():"}, Def: true,
				More: []te.Line{{N: 43, Text: "    return pool.get()"}}},
		},
		Totals: []te.Tally{{Dir: "rag/", N: 12}, {Dir: "tests/", N: 3}},
	}
	te.Rank(r.Matches)
	fmt.Print(te.Render(r, 16000))
	// Output:
	// # TE_BEGIN_META
	// {"v":1,"cmd":"search","matches":15,"truncated":true,"hot_zone":"rag/ (80%)","content_type":"code/python"}
	// # TE_END_META
	//
	// rag/database.py:42: def database_connection():
	// rag/database.py-43-     return pool.get()
	// rag/database.py:89: database_connection.execute(
	//
	// # TE: 10 more in rag/
	// # TE: 3 more in tests/
}

func ExampleFail() {
	fmt.Print(te.Fail("grep", "invalid_pattern", "error parsing regexp: missing closing ): `(`"))
	// Output:
	// # TE_BEGIN_META
	// {"v":1,"cmd":"grep","error":"invalid_pattern"}
	// # TE_END_META
	//
	// [TE] error parsing regexp: missing closing ): `(`
}
