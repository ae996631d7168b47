package grammar

// Sources: ChatML; Llama 2, 3 and 4; Mistral; GPT-NeoX and Qwen; Gemma; Phi;
// Command R; OpenChat; DeepSeek, as their tokenizers name them; Alpaca and Vicuna
// for the words. Each that ends a turn has one "<" at its beginning and a ">" at
// its end.
var chatTokens = []ChatToken{
	{Text: "<|im_end|>"}, {Text: "<|eot_id|>"}, {Text: "<|eom_id|>"}, {Text: "<|eot|>"}, {Text: "<|end_of_text|>"}, {Text: "</s>"}, {Text: "<|endoftext|>"},
	{Text: "<end_of_turn>"}, {Text: "<eos>"}, {Text: "<|end|>"}, {Text: "<|END_OF_TURN_TOKEN|>"}, {Text: "<|end_of_turn|>"}, {Text: "<｜end▁of▁sentence｜>"},

	{Text: "<|im_start|>assistant", Turn: OwnTurn}, {Text: "<|start_header_id|>assistant", Turn: OwnTurn}, {Text: "<start_of_turn>model", Turn: OwnTurn},
	{Text: "<|assistant|>", Turn: OwnTurn}, {Text: "### assistant", Turn: OwnTurn}, {Text: "### response", Turn: OwnTurn}, {Text: "assistant", Turn: OwnTurn, Alone: true},

	{Text: "<|im_start|>user", Turn: OtherTurn}, {Text: "<|im_start|>system", Turn: OtherTurn}, {Text: "<|start_header_id|>", Turn: OtherTurn}, {Text: "<start_of_turn>", Turn: OtherTurn},
	{Text: "<|user|>", Turn: OtherTurn}, {Text: "[INST]", Turn: OtherTurn},
	{Text: "### instruction", Turn: OtherTurn}, {Text: "### input", Turn: OtherTurn}, {Text: "### user", Turn: OtherTurn}, {Text: "### human", Turn: OtherTurn}, {Text: "### question", Turn: OtherTurn},
	{Text: "human:", Turn: OtherTurn}, {Text: "user:", Turn: OtherTurn},
	{Text: "user", Turn: OtherTurn, Alone: true}, {Text: "human", Turn: OtherTurn, Alone: true}, {Text: "system", Turn: OtherTurn, Alone: true},

	{Text: "<|im_start|>tool", Turn: ResultTurn}, {Text: "<|observation|>", Turn: ResultTurn}, {Text: "observation:", Turn: ResultTurn},
}
