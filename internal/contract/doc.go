// Package contract joins the requirements of docs/requirements.md with the
// tests that check them. A test names its rows in a line
//
//	contract: P-08 P-09
//
// of the comment above its func, of a txtar case's comment, or, after a "#",
// of a script.
package contract
