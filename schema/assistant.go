package schema

import "encoding/json"

// Assistant lists the names that models invent for the tools of a personal
// assistant (memory, history, profile, web search, models), as aliases for
// CompileWith. Each counts only if its tool is there: under the tool's own
// name, or as an action of a tool that has several. The arguments after them
// are renamed only to what the tool takes.
// Source: llm-bawt's tables of tool names and argument keys.
func Assistant() []Alias {
	out := append(invented(), actions()...)
	return append(out,
		Alias{To: "get_recent_history", Args: recentArgs},
		Alias{To: "forget_history", Args: forgetArgs},
		Alias{Args: map[string]string{
			"num_results": "n_results", "number_of_results": "n_results", "max_results": "n_results",
			"search_query": "query", "q": "query", "text": "content", "message": "content",
		}})
}

var (
	recentArgs = map[string]string{"count": "n_messages", "limit": "n_messages", "num_messages": "n_messages", "number_of_messages": "n_messages"}
	forgetArgs = map[string]string{"n_messages": "count", "num_messages": "count", "number_of_messages": "count", "n": "count", "limit": "count"}
)

// invented are the names that no tool has.
func invented() (out []Alias) {
	for _, group := range []struct {
		to, action string
		from       []string
	}{
		{"get_recent_history", "", []string{"retrieve_conversation_history", "get_conversation_history", "get_history",
			"conversation_history", "fetch_history", "show_history", "list_history", "get_messages", "retrieve_messages"}},
		{"search_memories", "", []string{"search_memory", "memory_search", "query_memories", "find_memories"}},
		{"store_memory", "", []string{"save_memory", "add_memory", "remember"}},
		{"get_user_profile", "", []string{"get_profile", "user_profile"}},
		{"set_user_attribute", "", []string{"set_attribute", "set_preference"}},
		{"web_search", "", []string{"search", "internet_search", "google"}},
		{"model", "current", []string{"current_model", "get_model"}},
		{"model", "list", []string{"list_models", "show_models", "available_models"}},
	} {
		for _, from := range group.from {
			out = append(out, Alias{From: from, To: group.to, Defaults: choice("action", group.action)})
		}
	}
	return out
}

// actions are the names of tools that became an action of one.
func actions() (out []Alias) {
	for _, group := range []struct {
		to, key string
		from    [][2]string // name, value of the key
	}{
		{"memory", "action", [][2]string{{"search_memories", "search"}, {"store_memory", "store"}, {"delete_memory", "delete"}}},
		{"history", "action", [][2]string{{"search_history", "search"}, {"get_recent_history", "recent"}, {"forget_history", "forget"}}},
		{"profile", "action", [][2]string{{"set_user_attribute", "set"}, {"get_user_profile", "get"}, {"delete_user_attribute", "delete"}}},
		{"self", "action", [][2]string{{"bot_trait", "set"}, {"set_my_trait", "set"}}},
		{"search", "type", [][2]string{{"web_search", "web"}, {"news_search", "news"}, {"reddit_search", "reddit"}}},
		{"model", "action", [][2]string{{"get_current_model", "current"}, {"switch_model", "switch"}}},
		{"time", "action", [][2]string{{"get_current_time", ""}}},
	} {
		for _, from := range group.from {
			a := Alias{From: from[0], To: group.to, Defaults: choice(group.key, from[1])}
			switch a.From {
			case "get_recent_history":
				a.Args = recentArgs
			case "forget_history":
				a.Args = forgetArgs
			}
			out = append(out, a)
		}
	}
	return out
}

// choice is the default {key: value}, or none.
func choice(key, value string) json.RawMessage {
	if value == "" {
		return nil
	}
	return json.RawMessage(`{"` + key + `":"` + value + `"}`)
}
