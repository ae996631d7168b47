import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { brotliCompressSync, constants } from "node:zlib";

test("the engine takes 1.7 MB at most on the wire", () => {
  const packed = brotliCompressSync(readFileSync(new URL("../dist/parse.wasm", import.meta.url)),
    { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
  assert.ok(packed.length <= 1_700_000, `${packed.length} bytes`);
});
