import type { ValidationContext } from "../config/validate.ts";
import { TRANSFORMATION_NAMES, VALIDATOR_NAMES } from "./plan.ts";
import type { Plugins } from "./plugins.ts";

/** What the registry of transformations means to a configuration. */
export const VALIDATION_CONTEXT: ValidationContext = {
  transformations: TRANSFORMATION_NAMES,
  validators: VALIDATOR_NAMES,
};

/** The same with what plugins bring. */
export function contextWith({ transformations, formats }: Plugins): ValidationContext {
  return {
    ...VALIDATION_CONTEXT,
    transformations: [...transformations.keys(), ...VALIDATION_CONTEXT.transformations],
    formats: [...formats.keys()],
  };
}
