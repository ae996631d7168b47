package format

import "github.com/unifiedtoolprotocol/utp/grammar"

// adapters are the families that need one.
// Sources: llm-bawt's adapters (pygmalion, dolphin); the chat templates of
// google/gemma-2-9b-it, mistralai/Mistral-7B-Instruct-v0.2 and
// mistralai/Mixtral-8x7B-Instruct-v0.1.
var adapters = []Adapter{
	{
		Name: "none", Aliases: []string{"default"},
	},
	{
		Name: "pygmalion", Aliases: []string{"mythomax"},
		Models: []string{"*pygmalion*", "*mytho*", "*lewd*"},
		Stops:  []string{"[HUMAN]", "[INST]", "### Instruction:", "### Human:", "<|im_start|>user", "[/HUMAN]", "[/INST]"},
		Marks: grammar.Marks{
			Ends:  []string{"### Instruction:", "### Human:", "<|im_start|>user", "[/HUMAN]", "[/INST]"},
			Drop:  []grammar.Fence{{Open: "[HUMAN]", Close: "[/HUMAN]"}, {Open: "[INST]", Close: "[/INST]"}, {Open: "[color=", Close: "]"}, {Open: "[size=", Close: "]"}, {Open: "[url=", Close: "]"}},
			Tight: true,
			Noise: []string{"[b]", "[/b]", "[i]", "[/i]", "[u]", "[/u]", "[s]", "[/s]", "[center]", "[/center]", "[quote]", "[/quote]", "[url]", "[/url]", "[/color]", "[/size]"},
		},
	},
	{
		Name: "dolphin",
		Marks: grammar.Marks{
			Ends: []string{"Observation:"},
		},
	},
	{
		Name:     "gemma",
		Models:   []string{"gemma-2*", "gemma2*", "gemma:*", "gemma-7b*", "gemma-1*", "codegemma*"},
		NoSystem: true,
		Stops:    []string{"<start_of_turn>"},
		Marks: grammar.Marks{
			Ends:  []string{"<start_of_turn>"},
			Noise: []string{"<end_of_turn>"},
		},
	},
	{
		Name:     "mistral-instruct",
		Models:   []string{"mistral-7b-instruct-v0.1*", "mistral-7b-instruct-v0.2*", "mixtral-8x*-instruct-v0.1*"},
		NoSystem: true,
		Stops:    []string{"[INST]"},
		Marks: grammar.Marks{
			Ends: []string{"[INST]"},
		},
	},
}
