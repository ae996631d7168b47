// One call, as the models of ten families write it.
const say = (call) => `I will look.\n${call}`;

export const dialects = {
  hermes: say('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'),
  "qwen3-coder": say("<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"),
  mistral: say('[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]'),
  llama3: say('<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}'),
  pythonic: say('[get_weather(city="Oslo")]'),
  glm: say("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"),
  "deepseek-v3": say('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
  "kimi-k2": say('<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'),
  "json-fence": say('```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'),
  xml: say("<get_weather>\n<city>Oslo</city>\n</get_weather>"),
};
