/** What the page asks its worker, and what it answers. All of it can be cloned. */

export interface GivenFile {
  readonly name: string;
  readonly blob: Blob;
}

export interface KnownFile {
  readonly name: string;
  readonly bytes: number;
}

export interface Added {
  /** All lists that are there now. */
  readonly files: readonly KnownFile[];
  /** The configuration that was among the files, or one for all lists. */
  readonly config: string;
  readonly isGiven: boolean;
  /** What was made of settings, and what could not be used. */
  readonly notes: readonly string[];
}

/** A list as a link carries it. */
export type SharedList = readonly [name: string, text: string];

export interface Problem {
  readonly severity: "error" | "warning" | "note";
  readonly code: string;
  readonly message: string;
  readonly at?: string;
  readonly frame?: string;
  readonly hint?: string;
  readonly cause?: string;
}

export interface SourceView {
  readonly name: string;
  readonly lines: number;
  readonly kept: number;
  readonly rules: number;
  readonly onlyHere: number;
  /** Lines by fate, most frequent first. */
  readonly dropped: readonly (readonly [fate: string, count: number, meaning: string])[];
}

export interface ListView {
  readonly name: string;
  readonly path: string;
  readonly rules: number;
  readonly lines: number;
  readonly bytes: number;
  readonly sources: readonly SourceView[];
  readonly overlap: readonly (readonly number[])[];
  readonly cover: readonly string[];
  /** The list, and the other files of the build. */
  readonly files: readonly KnownFile[];
  readonly alarms: readonly AlarmView[];
}

export interface Compiled {
  readonly lists: readonly ListView[];
  readonly problems: readonly Problem[];
  /** Whether guards would refuse to publish a list that is shown anyway. */
  readonly isRefused: boolean;
  /** Addresses whose files are not there, and the names that these files should have. */
  readonly missing: readonly { readonly address: string; readonly file: string }[];
  /** Files that the configuration does not name. */
  readonly unused: readonly string[];
  readonly seconds: number;
}

/** A dropped line that would have done harm. */
export interface AlarmView {
  readonly at: string;
  readonly text: string;
  readonly fate: string;
  readonly meaning: string;
  /** How many more lines of the source have that fate. */
  readonly more: number;
}

/** The lines to show. */
export type Wanted =
  | { readonly kind: "file"; readonly path: string; readonly find: string }
  | {
      readonly kind: "source";
      readonly list: number;
      readonly source: number;
      /** A fate; empty for all. */
      readonly fate: string;
      readonly find: string;
    };

export interface ShownLine {
  readonly line: number;
  readonly text: string;
  /** Of a line of a source. */
  readonly fate?: string;
  /** Where the line is that made it redundant. */
  readonly by?: string;
}

export interface Why {
  readonly name: string;
  readonly verdict: "blocked" | "allowed" | "rewritten" | "neither";
  readonly rule?: { readonly text: string; readonly at: string };
  readonly partial: readonly { readonly text: string; readonly at: string }[];
  readonly lines: readonly {
    readonly at: string;
    readonly text: string;
    readonly fate: string;
    readonly meaning: string;
    readonly by?: string;
  }[];
  readonly unblock?: { readonly allow: string; readonly effect: string };
}

export interface Written {
  readonly files: readonly KnownFile[];
  /** Rules that the format cannot express. */
  readonly losses: readonly string[];
}

/** Each call has a number, so that answers find their way back. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly problems?: readonly Problem[];
}
