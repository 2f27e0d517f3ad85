/** What a source says about its feed. Builds record it, so that a feed can be read again. */
export interface FeedSettings {
  /** The `type` of the source: a name in the registry. */
  readonly type: string;
  /** CSV: a name in the header, or a number from 1. */
  readonly column?: string | undefined;
  readonly delimiter?: string | undefined;
  /** Required values by column or key. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** JSON: a pointer (RFC 6901) in which `*` matches any key or index. */
  readonly path?: string | undefined;
  /** `host`: a URL with a path is a rule for its host, too. */
  readonly urls?: "whole" | "host" | undefined;
}

/** A condition on a row or an object. */
export interface Condition {
  readonly key: string;
  /** The row must have one of these values. */
  readonly values: readonly string[];
  /** Whether a row without this column or key passes. */
  readonly orAbsent?: true;
}

/** A condition that only objects can have: on a text, or on each text of an array. */
export interface Refusal {
  readonly key: string;
  readonly isRefused: (value: string) => boolean;
}

export function conditionsOf({ where = {} }: FeedSettings): Condition[] {
  return Object.entries(where).map(([key, value]) => ({ key, values: [value] }));
}
