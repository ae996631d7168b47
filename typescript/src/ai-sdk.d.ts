import type { Problem } from "./engine.js";

export interface ToolCallsOptions {
  /** The dialect in which the model is told of its tools; by default its own, by its name, else Hermes'. */
  dialect?: string;
  /** The model's name, where the provider's id is another. */
  model?: string;
  /** The model takes tools itself: leave them where they are, and read its text alone. */
  native?: boolean;
  /** What to do with doubtful calls, in the words of `bx parse`. */
  policy?: string;
  /** Makes the id of a call. */
  newId?: () => string;
  /** Hears of every call that could not be read ("truncated", "malformed", …), or that does not fit its tool ("invalid"). */
  onProblem?: (problem: { kind: Problem["kind"]; name?: string; message?: string }) => void;
}

/** Fits the middleware of both versions of the SDK. */
export interface ToolCallsMiddleware {
  readonly specificationVersion: any;
  transformParams(options: any): Promise<any>;
  wrapGenerate(options: any): Promise<any>;
  wrapStream(options: any): Promise<any>;
}

/**
 * A middleware for `wrapLanguageModel` of the AI SDK, versions 6 and 7:
 *
 *     const model = wrapLanguageModel({ model: provider("qwen3"), middleware: toolCalls() });
 */
export function toolCalls(options?: ToolCallsOptions): ToolCallsMiddleware;
