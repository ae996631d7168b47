// What a user of the package does first, for the runtimes of runtimes.mjs.
const tools = [{ name: "now", parameters: { type: "object", properties: { zone: { type: "string" }, n: { type: "integer" } } } }];
const text = 'I look 👋🏽.\n<tool_call>{"name": "now", "arguments": {"zone": "UTC", "n": "2",}}</tool_call>';

/** Reads a text whole, in pieces, and half of one that is freed then. */
export function use({ parse, stream }) {
  const reply = parse(text, { tools });
  const s = stream({ tools }), events = [];
  for (let i = 0; i < text.length; i += 3) events.push(...s.feed(text.slice(i, i + 3)));
  const { events: last, ...same } = s.close();
  events.push(...last);
  const half = stream({ tools });
  half.feed(text.slice(0, 40));
  half.free();
  let freed = "";
  try {
    half.feed("x");
  } catch (e) {
    freed = e.name;
  }
  return {
    call: reply.tool_calls[0].arguments, status: reply.tool_calls[0].status, content: reply.content,
    same: JSON.stringify(same) === JSON.stringify(reply),
    calls: events.filter((e) => e.kind === "call").length, first: events[0]?.kind, freed,
  };
}
