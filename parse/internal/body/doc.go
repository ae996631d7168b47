// Package body reads what the bodies of calls are made of: values and texts, JSON
// and its pieces, elements that nest. Each function looks at the text that it is
// given and knows no call, no tool and no parser.
package body
