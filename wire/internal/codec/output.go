package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
)

// OutputName is the name of a schema that its client did not name.
const OutputName = "reply"

// Held is whether OpenAI's APIs are asked to hold the output to its schema: as the
// request says, if they take the schema for that.
func (o *Outgoing) Held(p utp.Params) *bool {
	if p.SchemaHeld == nil || !*p.SchemaHeld || dialect.IsStrict(p.Schema) {
		return p.SchemaHeld
	}
	o.Lose("params.schema_strict", "dropped", "a strict schema must close every object and require every property")
	return nil
}

// HeldAnyway is a schema's strictness as clients of APIs have it that hold every
// output to its schema.
func HeldAnyway(schema json.RawMessage) *bool {
	if len(schema) == 0 || string(schema) == "{}" {
		return nil
	}
	yes := true
	return &yes
}

// Nameless reports what an API that holds every output to its schema has no place for.
func (o *Outgoing) Nameless(p utp.Params) {
	o.Refuse("a schema has none here", Param{"schema_name", p.SchemaName != ""}, Param{"schema_description", p.SchemaAbout != ""})
}

// SameOutput reports two settings of the output that differ in nothing.
func SameOutput(a, b utp.Params) bool {
	same := (a.SchemaHeld == nil) == (b.SchemaHeld == nil) && (a.SchemaHeld == nil || *a.SchemaHeld == *b.SchemaHeld)
	return same && string(a.Schema) == string(b.Schema) && a.SchemaName == b.SchemaName && a.SchemaAbout == b.SchemaAbout
}
