// Package lenient reads JSON as models write it. A Reader takes one value in
// pieces of any size and gives tokens as soon as they are certain; whatever it
// had to mend leaves a Fix with the place, what was written, what it was
// taken for, and why. Repair does the same for a whole text.
//
// # Laws
//
//   - Valid JSON (RFC 8259, UTF-8) never gets a Fix and never changes: Repair
//     gives it back byte for byte, number literals and escapes included.
//   - Where the input is cut makes no difference to the tokens (except where
//     StringPart is split), the fixes or the error.
//   - Nothing after the value is taken, but blanks after a mended closer.
//   - Work is linear in the input, memory is bounded by the nesting, the length
//     of a key, a number or a word; nothing is read twice but the bounded look
//     after a quote or an opening parenthesis (below).
//   - What could mean two things is a *SyntaxError, not a guess. A string that
//     does not end is never closed: End then says Fail and Cut.
//
// # What is mended
//
// Quotes: single, typographic, backquotes, triple quotes, \" around strings of
// JSON that was escaped once more; unquoted keys (letters, digits, _ - . $) and
// unquoted text up to a comma, a closer or the line's end, at most 256 bytes;
// strings joined by +. Quotes inside a string that were not escaped: see below.
//
// Structure: trailing, doubled, leading and missing commas; a missing colon, =
// or => for it; comments (//, #, /* */); {{ }} for { }; closers that are missing
// (at the end, or in front of the closer of an outer container), of the wrong
// kind, or surplus inside the value; tuples; full-width punctuation, byte order
// mark, no-break blanks and the tokenizer's Ġ and Ċ outside strings; \n, \t and
// \r written out outside strings.
//
// Scalars: True, False, None, TRUE, NULL, undefined; +1, 007, .5, 5., 1_000,
// 0x1F; arithmetic on number literals with + - * / // % ** and parentheses, as
// Python works it out. NaN and Infinity are errors, since null would be a guess;
// so are 555-1234 and 1/2/3 (arithmetic or text?), while 2024-12-25 is a text.
//
// In strings:
//
//	raw control character, line end    escaped
//	\'  \_                             ' and _ (\_ is Markdown's)
//	\u without four hex digits         \\u
//	any other escape (\d, C:\Users)    the backslash is doubled: nothing is lost
//	bytes that are no UTF-8            U+FFFD
//
// With Options.Python, Python's own literals leave no Fix: both quotes, triple
// quotes, the prefixes r u b, adjacent literals, Python's escapes, tuples, # and
// trailing commas, sets of literals, which are lists. JSON's literals are read beside
// them. f-strings, calls and method calls are errors. With Options.Quote, strings between that
// delimiter are taken literally, and keys and scalars may be bare; a key may then
// hold single blanks.
//
// # Which quote closes a string
//
// In valid JSON a closing quote is followed by blanks and then by a comma, a
// closer, a colon (of a key) or the end. A quote followed by anything else is
// content. Of those that are followed so, some still are content of a broken
// string, and the rule looks a little further, in a way that valid JSON always
// passes:
//
//   - A comma must be followed by what can come next: in an object a key and its
//     colon, in an array the beginning of a value or a closer, in an argument
//     list a value or a name and its =.
//   - Once a string is known to be broken, because a quote in it was content, a
//     quote closes it only if the brackets opened in the content are closed, and
//     a colon after a quote is an error: it may be the next key, after a
//     closing quote that is missing.
//   - Two strings in a row are a missing comma in front of a key (told by its
//     colon) or in an array; in Python they are one string.
//
// The look is bounded: two gaps of 64 blanks and one key or word of 64 bytes; it
// stops at the first closer. What is longer counts as what it may be in valid
// JSON. While it lasts, the bytes are held and no token is given; InString is
// false.
// At the root, and in strings whose delimiter is no single character, the first
// closing delimiter closes.
package lenient
