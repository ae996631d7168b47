// Package shape is the codecs' JSON: structs read and written by their tags, with
// the path and the offset of whatever is not as it should be, and with every
// field kept that no struct names.
package shape
