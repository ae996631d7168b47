/** A tool, in the form of OpenAI, Anthropic or MCP, or in the plain one. */
export type Tool =
  | { name: string; description?: string; parameters?: object; input_schema?: object; inputSchema?: object }
  | { type: "function"; function: { name: string; description?: string; parameters?: object } };

export interface Options {
  /** The tools offered, by which names and arguments are repaired and checked. */
  tools?: Tool[];
  /** "hermes"; several, with commas; "prefer:hermes" to try one first. Default: all. */
  dialect?: string;
  /** The model's name: its dialects are tried first. */
  model?: string;
  /** How the prompt ended, such as "<think>\n". */
  prefill?: string;
  /** What to do with doubtful calls: "unknown=text,repair=off". docs/parse.md lists them. */
  policy?: string;
  /** The server cut the text off. */
  cut?: boolean;
}

/** A change to what the model wrote. */
export interface Fix { path: string; was?: string; now?: string; why: string; guess?: boolean }

export interface Issue { path: string; message: string }

export interface ToolCall {
  id: string;
  grammar: string;
  name: string;
  /** An object that fits the tool, unless the status is "invalid". */
  arguments?: Record<string, unknown>;
  /** For a tool that takes a text, or for arguments that cannot be read. */
  arguments_raw?: string;
  status: "ok" | "repaired" | "invalid";
  fixes: Fix[];
  issues: Issue[];
  /** Where it stands, in bytes of UTF-8. */
  in?: string;
  offset?: number;
  length?: number;
}

export interface Problem {
  kind: "truncated" | "malformed" | "missing_name" | "empty" | "unknown_tool" | "too_long" | "quoted" | "invalid" | "repeated";
  grammar?: string;
  name?: string;
  message: string;
  raw?: string;
  in?: string;
  offset?: number;
  length?: number;
}

/** The reply that `bx parse` prints for the same text. */
export interface Reply {
  content: string;
  reasoning: string;
  tool_calls: ToolCall[];
  problems: Problem[];
  /** For a stream: the events of its end. */
  events?: Event[];
}

/** An event of a stream. Events of one part share its number. */
export type Event =
  /** More of the content, or of the thinking. */
  | Piece<"text" | "think"> & { text: string }
  /** A call has begun. It may still turn out to be none. */
  | Piece<"call-start"> & { call: RawCall }
  /** More of its arguments' JSON. */
  | Piece<"call-delta"> & { text: string }
  /** The call, complete and checked. Run only calls of this kind. */
  | Piece<"call"> & { call: RawCall; tool_call: ToolCall }
  /** A call that could not be read, with its text. */
  | Piece<"problem"> & { text?: string; problem: RawProblem }
  /** Markup that is not content. `text` says why the model's words do not count. */
  | Piece<"mark"> & { text?: string };

interface Piece<Kind> {
  kind: Kind;
  part: number;
  /** The model's own words for it; all of them, joined, are the text. */
  raw?: string;
}

/** A call as it was read, before it was checked against its tool. */
export interface RawCall {
  id?: string;
  name: string;
  arguments?: Record<string, unknown>;
  raw_arguments?: string;
  /** "text:" and the dialect. */
  source?: string;
  fixes?: Fix[];
}

/** A problem, with its place. */
export interface RawProblem {
  kind: Problem["kind"];
  grammar?: string;
  name?: string;
  /** Where it stands, in bytes of UTF-8. */
  offset: number;
  want?: string;
  message?: string;
  raw?: string;
}

export interface Stream {
  feed(piece: string): Event[];
  close(cut?: boolean): Reply;
  free(): void;
}

export type Part =
  | { type: "text"; text: string }
  | { type: "call"; id?: string; name: string; arguments: object }
  | { type: "result"; call_id?: string; name?: string; status: "ok" | "error" | "denied"; parts: Part[] };

export interface Message { role: "system" | "user" | "assistant" | "tool"; parts: Part[] }

export interface Ask {
  tools: Tool[];
  /** The dialect to write in; by default the model's, else Hermes'. */
  dialect?: string;
  model?: string;
  messages?: Message[];
  choice?: { mode?: "required" | "named" | "none"; name?: string };
}

export interface Rendered {
  dialect: string;
  /** The list of the tools, with how to call one. */
  text: string;
  /** The conversation without tools: the list in the system message, calls and results as text. */
  messages: Message[];
}

export interface Engine {
  parse(text: string, options?: Options): Reply;
  stream(options?: Options): Stream;
  /** Only for an engine loaded from full.wasm. */
  render(ask: Ask): Rendered;
  /** The memory of the engine, in bytes. */
  readonly memory: number;
}

/** Thrown for options that are not valid, or for a stream that has ended. */
export class ParseError extends Error {}

/**
 * The WebAssembly: its address, as a text or a URL, or its bytes, a Response, a
 * WebAssembly.Module, or a promise of one of these.
 */
export type Source = string | object;

/** Starts a new engine; without a source, from the file next to this one. */
export function load(source?: Source): Promise<Engine>;
