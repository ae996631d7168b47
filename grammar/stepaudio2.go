package grammar

var stepAudio2 = Grammar{
	Name:    "step-audio-2",
	Aliases: []string{"step-audio2-lines"},
	Models:  []string{"step-audio-2*"},
	Source:  `vLLM step_audio_2_tool_parser.py`,
	Call:    Fence{"<tool_call>function\n{name}\n", "</tool_call>"},
	Body:    Args,
}
