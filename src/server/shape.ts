/** A check of a value that was parsed from JSON. */
export type Shape = (value: unknown) => boolean;

export const isText: Shape = (value) => typeof value === "string";
export const isFlag: Shape = (value) => typeof value === "boolean";
/** A count or a measurement. */
export const isAmount: Shape = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
export const isWhole: Shape = (value) => Number.isSafeInteger(value);
/** A timestamp in the format of `Date.toISOString`. */
export const isMoment: Shape = (value) =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

export function oneOf(values: readonly unknown[]): Shape {
  return (value) => values.includes(value);
}

export function either(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((fits) => fits(value));
}

export function listOf(fits: Shape, length?: number): Shape {
  return (value) =>
    Array.isArray(value) && (length === undefined || value.length === length) && value.every(fits);
}

export function recordOf(fits: Shape): Shape {
  return (value) => isRecord(value) && Object.values(value).every(fits);
}

/** An object with at least the required fields. */
export function objectOf(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  return (value) =>
    isRecord(value) &&
    Object.entries(required).every(
      ([key, fits]) => Object.hasOwn(value, key) && fits(value[key]),
    ) &&
    Object.entries(optional).every(([key, fits]) => !Object.hasOwn(value, key) || fits(value[key]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
