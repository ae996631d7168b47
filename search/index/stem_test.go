package index

import "testing"

func TestStem(t *testing.T) {
	for in, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "is": "is", "agreed": "agre", "feed": "feed", "plastered": "plaster", "sing": "sing",
		"conflated": "conflat", "hopping": "hop", "falling": "fall", "filing": "file", "happy": "happi", "sky": "sky",
		"relational": "relat", "conditional": "condit", "digitizer": "digit", "vietnamization": "vietnam", "sensibiliti": "sensibl", "terribly": "terribl",
		"triplicate": "triplic", "hopeful": "hope", "adoption": "adopt", "religion": "religion", "rate": "rate", "controlling": "control", "analogy": "analog",
		"parsing": "pars", "parsed": "pars", "parser": "parser", "sha256": "sha256", "x": "x",
		"größe": "groß", "λειά": "λεια", "バー": "バー", "दुनिया": "दुनिया",
	} {
		if got := stem(in); got != want {
			t.Errorf("stem(%q) = %q, want %q", in, got, want)
		}
	}
}
