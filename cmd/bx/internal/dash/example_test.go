package dash_test

import (
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
)

func Example() {
	d := dash.New(dash.Config{Now: time.Now})
	w := httptest.NewRecorder()
	d.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:4143/ui/data/replies", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 401 {"error":"sign in at /ui/ first"}
}
