/** The WebAssembly as the bundler or the runtime has it: a module, bytes, an address. For `load`. */
declare const wasm: import("./engine.js").Source;
export default wasm;
