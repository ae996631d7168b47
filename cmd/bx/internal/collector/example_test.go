package collector_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/collector"
)

func Example() {
	c := new(collector.Collector)
	to := httptest.NewServer(c)
	defer to.Close()

	span := &tracepb.Span{Name: "chat qwen3:8b", Kind: tracepb.Span_SPAN_KIND_CLIENT, TraceId: []byte{1, 2}, Attributes: []*commonpb.KeyValue{
		{Key: "bx.calls", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 3}}},
	}}
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{span}}}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.Post(to.URL+"/v1/traces", "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Print(c)
	// Output: span chat qwen3:8b, client, trace 0102, parent : bx.calls=3
}
