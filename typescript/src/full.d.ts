import type { Ask, Rendered } from "./engine.js";

export * from "./index.js";

/** Writes tools, calls and results as the text of a dialect. */
export function render(ask: Ask): Rendered;
