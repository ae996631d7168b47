package telemetry_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/collector"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
)

func Example() {
	c := new(collector.Collector)
	to := httptest.NewServer(c)
	defer to.Close()
	os.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", to.URL+"/v1/traces")
	defer os.Unsetenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

	ctx := context.Background()
	told, err := telemetry.Open(ctx, telemetry.Config{Version: "1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	told.Chat(ctx, telemetry.Chat{API: "ollama", Asked: "qwen3:8b", Began: time.Now(), Took: time.Second})
	fmt.Println(told.Close(ctx))
	for _, s := range c.Spans() {
		fmt.Println(s.Name, s.Kind)
	}
	// Output:
	// <nil>
	// chat qwen3:8b SPAN_KIND_CLIENT
}
