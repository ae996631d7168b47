package lenient

import (
	"encoding/json"
	"strings"
)

// Object reads the arguments of a call that came as a text: an object, or an
// object that was encoded as a string once more; what stands behind it is cut
// off. Both leave a Fix. ok is false for anything else, and where mending lost
// all that the text held.
func Object(s string, o Options) (object json.RawMessage, fixes []Fix, ok bool) {
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
