import type { ValidationContext } from "../config/validate.ts";
import { TRANSFORMATION_NAMES, VALIDATOR_NAMES } from "./plan.ts";
import type { Plugins } from "./plugins.ts";

/** The names in the registry of transformations. */
export const VALIDATION_CONTEXT: ValidationContext = {
  transformations: TRANSFORMATION_NAMES,
  validators: VALIDATOR_NAMES,
};

/** The same with those of plugins. */
export function contextWith({ transformations, formats }: Plugins): ValidationContext {
  return {
    ...VALIDATION_CONTEXT,
    transformations: [...transformations.keys(), ...VALIDATION_CONTEXT.transformations],
    formats: [...formats.keys()],
  };
}
