package bench
import ("testing";"net/http/httptest";"fmt";"strings";"os";"syscall")
func BenchmarkProf(b *testing.B) {
	up := httptest.NewServer(model(4 << 10))
	defer up.Close()
	body := fmt.Appendf(nil, `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":%q}],"tools":[{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`, strings.Repeat("Read the file. ", 270))
	var u string; if os.Getenv("WHO")=="b" { u = theirGateway(b, up.URL) } else if os.Getenv("WHO")=="p" { u = proxied(b, up.URL) } else { u = ourGateway(b, up.URL) }; c := pool(); var r0,r1 syscall.Rusage; syscall.Getrusage(0,&r0); n := 0
	for b.Loop() { n++; took(b, c, u+"/v1/messages", body, false) }; syscall.Getrusage(0,&r1); d := func(a,b syscall.Timeval) int64 { return (b.Sec-a.Sec)*1e6+b.Usec-a.Usec }; b.ReportMetric(float64(d(r0.Utime,r1.Utime)+d(r0.Stime,r1.Stime))/float64(n),"cpu-µs")
}
