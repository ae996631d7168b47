// The engine, ready: for Node, browsers, Deno and workers that take modules.
import { load, ParseError } from "./engine.js";

const engine = await load();

export { ParseError };
export const parse = (text, options) => engine.parse(text, options);
export const stream = (options) => engine.stream(options);
