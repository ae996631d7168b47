// The engine that also writes. It is a ninth larger.
import { load, ParseError } from "./engine.js";

const engine = await load(new URL("./full.wasm", import.meta.url));

export { ParseError };
export const parse = (text, options) => engine.parse(text, options);
export const stream = (options) => engine.stream(options);
export const render = (ask) => engine.render(ask);
