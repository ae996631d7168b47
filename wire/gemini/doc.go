// Package gemini speaks Google's Gemini API, models/MODEL:generateContent and
// :streamGenerateContent: Back calls it, Front poses as it.
//
// Source: the types of google.golang.org/genai, and Google's reference, "Generate
// content", "Function calling" and "Thought signatures".
package gemini
