package utp

import "regexp"

// keys are what looks like a credential: OpenAI's and Anthropic's, Google's,
// Groq's, xAI's, those of bx serve, and any bearer token.
var keys = regexp.MustCompile(`(?i)\b(sk-|AIza|gsk_|xai-|Bearer +)[\w.*-]{6,}|\b(bx-)[a-z2-7]{26}\b`)

// Redact hides the credentials in a text that is kept, traced or told: servers quote
// them in their messages.
func Redact(s string) string { return keys.ReplaceAllString(s, "${1}${2}…") }
