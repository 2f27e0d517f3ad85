import { type Args, isFor } from "./args.ts";
import type { Flag, SETS } from "./flag.ts";
import { FLAGS, type FlagName } from "./flags.ts";

type AnyFlag = (typeof FLAGS)[number];
type SetName = keyof typeof SETS;

/** The commands that take an option; the type-level equivalent of `takersOf`. */
type Takers<F> =
  | (F extends { sets: readonly (infer Set extends SetName)[] }
      ? (typeof SETS)[Set][number]
      : never)
  | (F extends { only: readonly (infer Command)[] } ? Command : never);

type FlagsOf<Command> = AnyFlag extends infer F
  ? F extends AnyFlag
    ? Command extends Takers<F>
      ? F
      : never
    : never
  : never;

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type ValueOf<F> = F extends { repeats: true }
  ? readonly string[]
  : F extends { value: string }
    ? string | undefined
    : boolean;

/** The command-specific options of a command: switches, values, and lists of values. */
export type CommandFlags<Command extends string> = {
  readonly [F in FlagsOf<Command> as Camel<F["name"]>]: ValueOf<F>;
};

type CommandName = Takers<AnyFlag>;

/** The options that the user gave for a command, by name. */
export function flagsOf<Command extends CommandName>(
  command: Command,
  { switches, values }: Args,
): CommandFlags<Command> {
  const flags = (FLAGS as readonly Flag[]).filter((flag) => isFor(flag, command));
  const entries = flags.map((flag) => {
    const name = flag.name as FlagName;
    const given = values.get(name);
    const value =
      flag.value === undefined
        ? switches.has(name)
        : flag.repeats === true
          ? (given ?? [])
          : given?.[0];
    return [name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value] as const;
  });
  // The types above are derived from the same table.
  return Object.fromEntries(entries) as CommandFlags<Command>;
}
