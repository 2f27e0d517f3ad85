/** Sets of commands that share options: they build a list, or answer from a published one. */
export const SETS = {
  building: ["compile", "watch", "plan", "serve"],
  answering: ["why", "stats", "diff", "log", "export", "rollback", "hold", "apply", "prove"],
} as const;

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Whether it works and is not shown: the program passes it to itself, or measurements need it. */
  readonly isHidden?: boolean;
  /** The name of its value in help; undefined for a switch. */
  readonly value?: string;
  /** Whether the value may be omitted, which means `*`. */
  readonly isOptional?: boolean;
  /** Whether it may be repeated. */
  readonly repeats?: boolean;
  /** Sets of commands that take it, ... */
  readonly sets?: readonly (keyof typeof SETS)[];
  /** ... and further commands. If both are undefined, every command takes it. */
  readonly only?: readonly string[];
  readonly description: string;
  /** What it means for commands that answer from a published list, if that differs. */
  readonly whenAnswering?: string;
}

/** What an option means for a command. */
export function descriptionFor({ description, whenAnswering }: Flag, command: string): string {
  const isAnswering = (SETS.answering as readonly string[]).includes(command);
  return (isAnswering ? whenAnswering : undefined) ?? description;
}

/** The commands that take an option; undefined if all do. */
export function takersOf({ sets, only }: Flag): readonly string[] | undefined {
  if (sets === undefined && only === undefined) return undefined;
  return [...(sets ?? []).flatMap((set) => SETS[set]), ...(only ?? [])];
}
