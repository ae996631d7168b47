package grammar

// all is in order of rank. Of two grammars that can read the same opener the
// earlier one does, unless what follows the opener decides; and of a model's
// grammars the first is the one that prompts are written in. Hence:
//
//   - Grammars trained into a model's tags come first, those with markers that
//     no other shares before those that share one.
//   - Where the opener is shared, the reader with the narrower continuation
//     stands first: <tool_call> followed by <function= or function before a
//     bare name; <tool_calls> with a suffix or a separator before a list.
//   - Of the grammars that read <invoke> without its group alike, the most used
//     one names the call: minimax-m2, anthropic, dots.
//   - Where one form is closed and the other is not (<function_call>), the
//     closed one stands first: it takes the closer along.
//   - Where two records read alike and differ only in print (hermes and
//     ernie45, lfm2 and pangu), the more common one stands first.
//   - The JSON forms of manifests stand after json-fence, which reads them all:
//     they differ in print.
//   - Forms without markers of their own come last: fences, ReAct lines, tags
//     named by tools, Python, bare JSON.
var all = []*Grammar{
	// <tool_call>, <function
	&qwen3Coder, &hermes, &stepAudio2, &glm53Flash, &glm, &ernie45,
	&functionary31, &minicpm5, &seedOSS, &iquest, &longcat,
	// <tool_calls>
	&hyV3, &hyV4, &jamba, &minimaxM1,
	// <invoke>
	&minimaxM2, &anthropic, &dots, &minimaxM3, &step3,
	&deepseekV32, &deepseekV4, &deepseekV41, &gigachat35,
	// single tokens
	&deepseekV3, &deepseekV31, &kimiK2, &kimiK3, &mistralArgs, &mistral,
	&llama3, &gemma4, &functionGemma, &cohere, &apertus, &granite, &functionCallTag, &granite20b,
	&functools, &internlm, &gigachat3, &nemotron, &hyperclovax14b, &solar, &solarOpen,
	&plamo3, &k2Horizon, &k2HorizonJSON, &lfm2, &pangu, &llama4, &olmo3,
	// message headers
	&harmony, &inkling, &muse, &museBare, &functionary32,
	// tags of prompts
	&toolsTag, &toolUseArgs, &toolUseChildren, &toolUse,
	&autobyteus, &sentinel, &cwm, &toolCode,
	// no markers of their own
	&jsonFence, &openAIJSON, &geminiJSON, &anthropicJSON, &defaultJSON, &jsonTag,
	&react, &reactTool, &reactCall, &laguna, &cline, &gemma4Bare, &kimiBare,
	&glmBare, &gigachat3Bare, &harmonyBare, &pythonic, &pythonLines, &nameJSON, &jsonBare,
}
