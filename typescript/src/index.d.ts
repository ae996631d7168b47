import type { Options, Reply, Stream } from "./engine.js";

export type * from "./engine.js";
export { ParseError } from "./engine.js";

/** Finds the calls in a text. */
export function parse(text: string, options?: Options): Reply;

/** Begins a text that comes in pieces. */
export function stream(options?: Options): Stream;
