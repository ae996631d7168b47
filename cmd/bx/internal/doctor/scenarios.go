package doctor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// order is a tool whose arguments nest.
var order = utp.Tool{Name: "create_order", Description: "Places an order.",
	Schema: json.RawMessage(`{"type":"object","properties":{"customer":{"type":"object","properties":{"name":{"type":"string"},"city":{"type":"string"}},"required":["name","city"]},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"count":{"type":"integer"}},"required":["sku","count"]}}},"required":["customer","items"]}`)}

// scenarios are what a full examination asks.
var scenarios = []probe{
	{name: "single call", ask: "What is the weather in Oslo? Use the tool get_weather.", tools: []utp.Tool{weather, clock}, judge: clean(oneCall("get_weather", "Oslo"))},
	{name: "parallel calls", ask: "What is the weather in Oslo and in Rome? Call the tool get_weather once for each city, both in this reply.", tools: []utp.Tool{weather}, judge: clean(bothCalls)},
	{name: "no call", ask: "What is the opposite of warm? Answer in one word, without a tool.", tools: []utp.Tool{weather, clock}, idle: true, judge: noCall},
	{name: "nested arguments", ask: "Order 2 of the article A-7 for the customer Ada in Oslo. Use the tool create_order.", tools: []utp.Tool{order}, judge: clean(nested)},
	{name: "unicode", ask: "What is the weather in 東京? Use the tool get_weather, and name the city as it is written here.", tools: []utp.Tool{weather, clock}, judge: clean(inUnicode)},
	{name: "no arguments", ask: "What time is it? Use the tool get_time.", tools: []utp.Tool{weather, clock}, judge: clean(oneCall("get_time", "{}"))},
	{name: "forced choice", ask: "It may rain in Oslo.", tools: []utp.Tool{weather}, choice: utp.Choice{Mode: utp.ChoiceRequired}, judge: clean(oneCall("get_weather", ""))},
	{name: "answer to a result", ask: "What is the weather in Oslo? Use the tool get_weather.", after: true, tools: []utp.Tool{weather, clock}, judge: answer},
	{name: "thinking before a call", ask: "Think first about which tool tells the time, then call it.", tools: []utp.Tool{weather, clock}, judge: clean(behindThinking)},
}

// clean wants that nothing in the reply is a broken call, and no call one that
// could only be guessed.
func clean(judge func(string, utp.Reply) (Verdict, string)) func(string, utp.Reply) (Verdict, string) {
	return func(form string, r utp.Reply) (Verdict, string) {
		v, detail := judge(form, r)
		if v == No {
			return v, detail
		}
		for _, p := range r.Problems {
			if p.Failed() {
				return No, "a call that cannot be read: " + p.Error()
			}
		}
		for _, c := range r.Calls() {
			for _, f := range c.Fixes {
				if f.Guess {
					return No, "a call that had to be guessed: " + f.Why
				}
			}
		}
		return v, detail
	}
}

func noCall(_ string, r utp.Reply) (Verdict, string) {
	switch {
	case len(r.Calls()) > 0:
		return No, "called " + r.Calls()[0].Name + " where nothing was to be called"
	case len(r.Problems) > 0:
		return No, "a call that cannot be read: " + r.Problems[0].Error()
	case strings.TrimSpace(r.Text()) == "":
		return No, "said nothing"
	}
	return Yes, "answers"
}

func nested(_ string, r utp.Reply) (Verdict, string) {
	if len(r.Calls()) == 0 {
		return No, wordless(r)
	}
	c := r.Calls()[0]
	var args struct {
		Customer struct{ City string }
		Items    []struct {
			SKU   string
			Count int
		}
	}
	if err := json.Unmarshal(c.Args, &args); err != nil || len(args.Items) != 1 || args.Items[0].SKU != "A-7" || args.Items[0].Count != 2 || args.Customer.City != "Oslo" {
		return No, fmt.Sprintf("called %s with %s", c.Name, compact(c.Args))
	}
	return Yes, said("", c)
}

func inUnicode(_ string, r utp.Reply) (Verdict, string) {
	if len(r.Calls()) == 0 {
		return No, wordless(r)
	}
	c := r.Calls()[0]
	var args struct{ City string }
	if json.Unmarshal(c.Args, &args) != nil || args.City != "東京" {
		return No, fmt.Sprintf("called %s with %s", c.Name, compact(c.Args))
	}
	return Yes, c.Name + " " + compact(c.Args)
}
