package gateway

import (
	"crypto/rand"
	"strings"
)

// Over returns a Gateway with one route for every model: to the first backend, and if
// that fails to the next. It panics if one is nil. See New for everything else.
func Over(first Backend, next ...Backend) *Gateway {
	r := Route{To: []Target{{Backend: first}}}
	for _, b := range next {
		r.Else = append(r.Else, Target{Backend: b})
	}
	g, err := New(Config{Routes: []Route{r}, NewID: randomID})
	if err != nil {
		panic(err) // a backend is nil
	}
	return g
}

func randomID() string { return strings.ToLower(rand.Text()) }
