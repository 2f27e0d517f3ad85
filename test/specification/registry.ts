import type { SpecifiedSection } from "../support/specified.ts";
import { commandLine } from "./command-line.ts";
import { fields, files, sourceFields, transformations } from "./configuration.ts";
import { environment } from "./environment.ts";
import { errors } from "./errors.ts";
import { dnsApi, server } from "./remote.ts";
import { versions } from "./versions.ts";

/** Everything that users were promised by name. docs/reference/specification.md follows from it. */
export const specification: readonly SpecifiedSection[] = [
  files,
  fields,
  sourceFields,
  transformations,
  environment,
  commandLine,
  dnsApi,
  server,
  errors,
  versions,
];
