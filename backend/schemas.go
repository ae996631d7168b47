package backend

import (
	"encoding/json"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// maxSchemas is how many bytes of schemas are held compiled; compiled they take
// several times as much.
const maxSchemas = 4 << 20

// Schemas compiles each schema once, for tools that come with every request. The zero
// value is empty. It is safe for concurrent use.
type Schemas struct {
	mu    sync.Mutex
	of    map[string]schema.Compiled
	bytes int
}

// Compile is schema.Compile.
func (s *Schemas) Compile(tools []utp.Tool) *schema.Set {
	return schema.CompileWith(tools, schema.Options{Compiled: s.compiled})
}

// compiled is schema.Read, once for each schema. What does not fit beside the others
// takes the place of all of them.
func (s *Schemas) compiled(raw json.RawMessage) schema.Compiled {
	s.mu.Lock()
	c, ok := s.of[string(raw)]
	s.mu.Unlock()
	if ok {
		return c
	}
	c = schema.Read(raw)
	if len(raw) > maxSchemas {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.of[string(raw)]; ok {
		return c
	}
	if s.of == nil || s.bytes+len(raw) > maxSchemas {
		s.of, s.bytes = map[string]schema.Compiled{}, 0
	}
	s.of[string(raw)] = c
	s.bytes += len(raw)
	return c
}
