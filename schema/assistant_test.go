package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// object is a tool whose arguments are all texts, closed to others.
func object(name string, args ...string) utp.Tool {
	var props []string
	for _, a := range args {
		props = append(props, `"`+a+`":{}`)
	}
	return utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `},"additionalProperties":false}`)}
}

// The names lead to the tools that have them, or to an action of the tool that
// took their place.
//
// contract: W-03 W-04 CON-31
func TestAssistant(t *testing.T) {
	own := []utp.Tool{object("get_recent_history", "n_messages"), object("forget_history", "count"), object("search_memories", "query", "n_results"),
		object("store_memory", "content"), object("get_user_profile"), object("set_user_attribute", "key"), object("web_search", "query", "max_results"), object("model", "name")}
	merged := []utp.Tool{object("history", "action", "n_messages", "count"), object("memory", "action", "query", "content"), object("profile", "action"),
		object("self", "action"), object("search", "type", "query"), object("model", "action"), object("time")}
	if n := len(invented()); n != 28 {
		t.Errorf("%d invented names, want 28", n)
	}
	for _, c := range []struct {
		tools            []utp.Tool
		name, args, want string
	}{
		{own, "Fetch-History", `{"limit":3}`, `get_recent_history {"n_messages":3}`},
		{own, "forget_history", `{"limit":3}`, `forget_history {"count":3}`},
		{own, "remember", `{"text":"x"}`, `store_memory {"content":"x"}`},
		{own, "google", `{"q":"x","max_results":2}`, `web_search {"query":"x","max_results":2}`},
		{own, "memory_search", `{"search_query":"x","num_results":2}`, `search_memories {"query":"x","n_results":2}`},
		{own, "list_models", `{}`, `model {}`},
		{own, "user_profile", `{}`, `get_user_profile {}`},
		{merged, "functions.show_history:0", `{"count":3}`, `history {"count":3,"action":"recent"}`},
		{merged, "show_history", `{"limit":3}`, `history {"n_messages":3,"action":"recent"}`},
		{merged, "forget_history", `{"limit":3}`, `history {"count":3,"action":"forget"}`},
		{merged, "remember", `{"message":"x"}`, `memory {"content":"x","action":"store"}`},
		{merged, "remember", `{"message":"x","action":"search"}`, `memory {"content":"x","action":"search"}`},
		{merged, "internet_search", `{"q":"x"}`, `search {"query":"x","type":"web"}`},
		{merged, "news_search", `{"q":"x"}`, `search {"query":"x","type":"news"}`},
		{merged, "search", `{"q":"x"}`, `search {"query":"x"}`},
		{merged, "list_models", `{}`, `model {"action":"list"}`},
		{merged, "get_model", `{}`, `model {"action":"current"}`},
		{merged, "set_preference", `{}`, `profile {"action":"set"}`},
		{merged, "get_current_time", `{}`, `time {}`},
		{merged, "bot_trait", `{}`, `self {"action":"set"}`},
	} {
		s := CompileWith(c.tools, Options{Aliases: Assistant()})
		name, _, ok := s.Resolve(c.name)
		args, _, issues := s.Check(c.name, json.RawMessage(c.args))
		if got := name + " " + string(args); !ok || got != c.want || len(issues) > 0 {
			t.Errorf("%s %s: %s %v, want %s", c.name, c.args, got, issues, c.want)
		}
	}
	for _, tools := range [][]utp.Tool{own, merged} {
		s := CompileWith(tools, Options{Aliases: Assistant()})
		for _, a := range invented() {
			if _, _, ok := s.Resolve(a.From); !ok {
				t.Errorf("%s leads to no tool", a.From)
			}
		}
		if issues := s.Broken(); issues != nil {
			t.Errorf("%v", issues)
		}
	}
	for to, names := range map[string]string{
		"get_recent_history": "retrieve_conversation_history get_conversation_history get_history conversation_history fetch_history show_history list_history get_messages retrieve_messages",
		"search_memories":    "search_memory memory_search query_memories find_memories",
		"store_memory":       "save_memory add_memory remember", "get_user_profile": "get_profile user_profile",
		"set_user_attribute": "set_attribute set_preference", "web_search": "search internet_search google",
		"model": "current_model get_model list_models show_models available_models",
	} {
		for _, name := range strings.Fields(names) {
			if got, _, _ := CompileWith(own, Options{Aliases: Assistant()}).Resolve(name); got != to {
				t.Errorf("%s leads to %s, want %s", name, got, to)
			}
		}
	}
	if _, _, ok := CompileWith(named("read_file"), Options{Aliases: Assistant()}).Resolve("remember"); ok {
		t.Error("an alias without its tool counts")
	}
}
