import type { Problem } from "./engine.js";

export interface ToolCallsOptions {
  /** The dialect that the model is told of its tools in; by default its own, by its name, else Hermes'. */
  dialect?: string;
  /** The model's name, where the provider's id is another. */
  model?: string;
  /** The model takes tools itself: leave them where they are, and read its text alone. */
  native?: boolean;
  /** What to do with doubtful calls, in the words of `bx parse`. */
  policy?: string;
  /** Makes the id of a call. */
  newId?: () => string;
  /** Hears of every call that could not be read. */
  onProblem?: (problem: Pick<Problem, "kind" | "name" | "message">) => void;
}

/**
 * A middleware for `wrapLanguageModel` of the AI SDK, versions 6 and 7:
 *
 *     const model = wrapLanguageModel({ model: provider("qwen3"), middleware: toolCalls() });
 *
 * Its type is `any` so that it fits the SDK that you have.
 */
export function toolCalls(options?: ToolCallsOptions): any;
