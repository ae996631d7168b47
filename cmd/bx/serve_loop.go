package main

import "net/http"

// own is the header by which bx serve knows its own requests again. A backend
// whose address is that of bx serve would have it ask itself for ever.
const own = "X-Bx-Via"

// signed writes the header into every request of a client.
func signed(c *http.Client, id string) *http.Client {
	c.Transport = &signing{c.Transport, id}
	return c
}

type signing struct {
	http.RoundTripper
	id string
}

func (s *signing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(own, s.id)
	return s.RoundTripper.RoundTrip(r)
}

// unlooped refuses what has the header.
func unlooped(h http.Handler, id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(own) != id {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusLoopDetected)
		_, _ = w.Write([]byte(`{"error":{"message":"this is bx serve itself: the url of a backend is its own address","type":"invalid_request_error","code":"loop"}}`))
	})
}
