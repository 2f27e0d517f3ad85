export type FieldType =
  /** Any text; `required` ones must not be empty */
  | "string"
  /** A list of strings */
  | "strings"
  /** A string or a list of strings */
  | "string-or-list"
  /** A list of exclusions or inclusions; regular expressions among them must compile */
  | "entries"
  /** An address or a path */
  | "source"
  /** A list of names from the registry of transformations */
  | "transformations"
  /** A list of sources; at least one. A text is a source without settings. */
  | "sources"
  /** A list of files of names or entries: texts, or sources with some of their settings */
  | "files"
  /** One of `FORMAT_NAMES` or `FEED_NAMES` */
  | "source-type"
  /** The name of a column, or its number */
  | "column"
  /** An object of texts */
  | "matches"
  /** One of `TRUST_LEVELS` */
  | "trust"
  | "boolean"
  /** A number of at least 0 */
  | "number"
  /** Checks before a list is published: `GUARD_FIELDS` */
  | "guards"
  /** A duration: a number and `s`, `m`, `h` or `d` */
  | "duration"
  /** A number of bytes: a number and `k`, `M` or `G`, or nothing */
  | "size"
  /** One of `OUTPUT_FORMATS` */
  | "format"
  /** One of `values` */
  | "choice"
  /** A list of some of `values` */
  | "choices"
  /** An object with `fields` */
  | "object"
  /** A list of objects with `fields` */
  | "objects";

export interface Field {
  readonly type: FieldType;
  readonly required?: boolean;
  readonly description: string;
  readonly example?: string | readonly string[];
  readonly values?: readonly string[];
  /** The maximum of a number that must be an integer. */
  readonly most?: number;
  readonly fields?: Readonly<Record<string, Field>>;
  /** Of a list of objects: the field that an entry sets if it is only a text. */
  readonly plain?: string;
}
