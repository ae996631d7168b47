package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
	"github.com/unifiedtoolprotocol/utp/record"
)

func Example() {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}))
	defer collector.Close()
	os.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.URL+"/v1/traces")
	defer os.Unsetenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

	ctx := context.Background()
	told, err := telemetry.Open(ctx, telemetry.Config{Version: "1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	told.Chat(ctx, telemetry.Chat{Reply: record.Reply{Speaks: "ollama", Asked: "qwen3:8b", Time: time.Now(), Took: record.MicrosOf(time.Second)}})
	fmt.Println(told.Close(ctx))
	// Output:
	// POST /v1/traces application/json
	// <nil>
}
