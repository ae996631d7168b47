package grammar

var granite20b = Grammar{
	Name:    "granite-20b",
	Aliases: []string{"granite20b-function-call"},
	Models:  []string{"granite-20b*"},
	Source:  `vLLM granite_20b_fc_tool_parser.py; granite-20b-functioncalling chat template`,
	Call:    Fence{Open: "<function_call> "},
	Body:    JSON,
}
