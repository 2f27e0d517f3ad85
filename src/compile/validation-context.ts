import type { ValidationContext } from "../config/validate.ts";
import { TRANSFORMATION_NAMES, VALIDATOR_NAMES } from "./plan.ts";

/** What the registry of transformations means to a configuration. */
export const VALIDATION_CONTEXT: ValidationContext = {
  transformations: TRANSFORMATION_NAMES,
  validators: VALIDATOR_NAMES,
};
