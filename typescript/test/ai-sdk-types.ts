// The middleware beside the SDK's own types, which need Node's and are not checked themselves.
import type { LanguageModelMiddleware as Six } from "ai6";
import type { LanguageModelMiddleware as Seven } from "ai7";
import { toolCalls } from "../dist/ai-sdk.js";

export const six: Six = toolCalls();
export const seven: Seven = toolCalls({ native: true });
