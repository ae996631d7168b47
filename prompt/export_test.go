package prompt

var Examples = examples
