import type { Problem } from "./engine.js";

export interface ToolCallsOptions {
  /** The dialect in which tools are written for the model; by default its own, by its name, else Hermes'. */
  dialect?: string;
  /** The model's name, if it differs from the provider's id. */
  model?: string;
  /** The model supports tools itself: leave them in place, and only read its text. */
  native?: boolean;
  /** What to do with doubtful calls, in the words of `bx parse`. */
  policy?: string;
  /** Makes the id of a call. */
  newId?: () => string;
  /** Called for every call that could not be read ("truncated", "malformed", …) or does not fit its tool ("invalid"). */
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
