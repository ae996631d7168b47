package record_test

import (
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
)

func Example() {
	r := record.Reply{ID: "a1", Time: time.Unix(0, 0).UTC(), By: record.ByServe, Asked: "qwen3", Form: "hermes", Tools: 3, Status: 200, Stop: utp.StopTool}
	r.Calls = append(r.Calls, record.CallOf(utp.Call{Name: "search", Source: "text:hermes", Fixes: []utp.Fix{{Why: "trailing comma"}}}))
	line, err := record.Append(nil, r)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s", line)
	back, err := record.Decode(line)
	reply := back.(record.Reply)
	outcome, _ := record.Judge(&reply)
	fmt.Println(outcome, err)
	// Output:
	// {"v":1,"kind":"reply","id":"a1","time":"1970-01-01T00:00:00Z","by":"serve","asked":"qwen3","form":"hermes","tools":3,"status":200,"stop":"tool","calls":[{"name":"search","source":"hermes","fixes":["trailing comma"]}]}
	// good <nil>
}

func ExampleShare_Interval() {
	native, react := record.Share{Good: 189, Of: 212}, record.Share{Good: 87, Of: 88}
	for _, s := range []record.Share{native, react} {
		in := s.Interval()
		fmt.Printf("%.0f %% of %.0f (%.0f to %.0f %%)\n", 100*s.Rate(), s.Of, 100*in.Low, 100*in.High)
	}
	fmt.Println("react is better:", react.Above(native, record.Z95))
	// Output:
	// 89 % of 212 (84 to 93 %)
	// 99 % of 88 (94 to 100 %)
	// react is better: true
}
