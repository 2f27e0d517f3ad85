import { commands } from "./commands/registry.ts";
import { FLAGS, type Flag, VARIABLES } from "./flags.ts";

export function helpText(): string {
  return `rules-compiler: many DNS blocklists in, one list out, every line accounted for

Usage:
  rules-compiler [compile] [-c FILE] [-o FILE]
  rules-compiler validate [-c FILE]
  rules-compiler -i SOURCE [-i SOURCE …] -o FILE

Examples:
  rules-compiler -c my-list.yaml              compile into ./rules/<name of the list>.txt
  rules-compiler -c my-list.yaml -o list.txt  compile into list.txt
  rules-compiler validate -c my-list.yaml     check the configuration only
  rules-compiler -i hosts.txt -o list.txt     compile one list without a configuration

Commands:
${table(commands.map(({ name, description }) => [name, description]))}

Options:
${table((FLAGS as readonly Flag[]).map((flag) => [flagUsage(flag), flag.description]))}

Environment:
${table(VARIABLES.map(({ name, description, fallback }) => [name, fallback === "" ? description : `${description} (default: ${fallback})`]))}

Exit codes: 0 done, 1 bug, 2 usage or configuration, 4 sources failed, 6 output failed, 130/143 stopped by a signal
`;
}

export function flagUsage({ name, short, value }: Flag): string {
  const long = `--${name}${value === undefined ? "" : ` ${value}`}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(28, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) =>
      left.length > width
        ? `  ${left}\n  ${" ".repeat(width)}  ${right}`
        : `  ${left.padEnd(width)}  ${right}`,
    )
    .join("\n");
}
