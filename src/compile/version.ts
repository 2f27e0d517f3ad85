/** Version of this package; `scripts/generate.ts --check` holds it to package.json. */
export const VERSION = "0.1.0";
