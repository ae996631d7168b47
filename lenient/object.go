package lenient

import (
	"encoding/json"
	"strings"
)

// Object reads the arguments of a call that came as a text: an object, an object
// that was encoded as a string once more, or the members of one without its braces.
// A few words or a code fence before it and all that stands after it are cut off.
// Each leaves a Fix. ok is false for anything else, and where mending lost all that
// the text held.
func Object(s string, o Options) (object json.RawMessage, fixes []Fix, ok bool) {
	if object, fixes, ok = whole(s, o); ok || o.Strict {
		return object, fixes, ok
	}
	if words, rest := dressing(s); words != "" {
		object, fixes, ok = whole(rest, o)
		return object, append([]Fix{{Was: words, Why: "text before the arguments"}}, fixes...), ok
	}
	if s = strings.TrimSpace(s); strings.HasPrefix(s, `"`) {
		object, fixes, ok = whole("{"+s+"}", o)
		return object, append([]Fix{{Now: "{", Why: "the braces are missing"}}, fixes...), ok
	}
	return nil, nil, false
}

// maxDressing is how many bytes may stand before an object.
const maxDressing = 64

// dressing are the words or the fence before an object, and the rest from there on.
func dressing(s string) (words, rest string) {
	at := strings.IndexByte(s, '{')
	if at <= 0 || at > maxDressing || strings.ContainsAny(s[:at], `"'[]}`) {
		return "", s
	}
	return strings.TrimSpace(s[:at]), s[at:]
}

// whole reads an object that is all of s, but for what stands after it.
func whole(s string, o Options) (object json.RawMessage, fixes []Fix, ok bool) {
	object, n, fixes, err := Repair(s, o)
	if err != nil {
		return nil, nil, false
	}
	var inner string
	if json.Unmarshal(object, &inner) == nil && isObject(inner) {
		object, fixes = json.RawMessage(inner), append(fixes, Fix{Why: "arguments encoded twice"})
	}
	if rest := strings.TrimSpace(s[n:]); rest != "" {
		fixes = append(fixes, Fix{Was: rest, Why: "text behind the arguments"})
	}
	emptied := string(object) == "{}" && strings.Trim(s, "{} \t\r\n") != ""
	return object, fixes, isObject(string(object)) && !emptied
}

func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}
