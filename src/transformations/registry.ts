import { compress } from "./compress.ts";
import { convertToAscii } from "./convert-to-ascii.ts";
import { deduplicate } from "./deduplicate.ts";
import { insertFinalNewLine } from "./insert-final-new-line.ts";
import { invertAllow } from "./invert-allow.ts";
import { removeComments } from "./remove-comments.ts";
import { removeEmptyLines } from "./remove-empty-lines.ts";
import { removeModifiers } from "./remove-modifiers.ts";
import type { Transformation } from "./transformation.ts";
import { trimLines } from "./trim-lines.ts";
import {
  validate,
  validateAllowIp,
  validateAllowIpAndPublicSuffix,
  validateAllowPublicSuffix,
} from "./validate.ts";

/** Every transformation, in execution order. The order in a configuration does not matter. */
export const transformations: ReadonlyMap<string, Transformation> = new Map([
  ["ConvertToAscii", convertToAscii],
  ["TrimLines", trimLines],
  ["RemoveComments", removeComments],
  // Before Compress, so that a rule without its modifiers can cover others and be covered.
  ["RemoveModifiers", removeModifiers],
  ["Compress", compress],
  ["InvertAllow", invertAllow],
  ["Validate", validate],
  ["ValidateAllowIp", validateAllowIp],
  ["ValidateAllowPublicSuffix", validateAllowPublicSuffix],
  ["ValidateAllowIpAndPublicSuffix", validateAllowIpAndPublicSuffix],
  ["Deduplicate", deduplicate],
  ["RemoveEmptyLines", removeEmptyLines],
  ["InsertFinalNewLine", insertFinalNewLine],
]);
