import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { allEntryFiles } from "../engine/plan.ts";
import type { Host } from "../host/host.ts";
import { isAddress, isBelow } from "../sources/location.ts";
import type { ListPlan } from "./list-plan.ts";

/** A note that names the local files outside of its folder that a configuration reads. */
export function outsideNote({ compile, list }: ListPlan, host: Host): Diagnostic[] {
  const { folder, file } = list.project;
  // Without a configuration, the user typed the files.
  if (file === "") return [];
  const all = [
    ...compile.sources,
    ...allEntryFiles(list.config),
    ...compile.ranks,
    ...compile.expand,
  ];
  const named = [
    ...all.flatMap(({ source, keyFiles }) => [
      source,
      ...Object.values<string | undefined>({ ...keyFiles }),
    ]),
    ...(list.config.guards?.breaks_traffic?.logs ?? []),
  ].filter((one) => one !== undefined && !isAddress(one));
  const base = host.path.resolve(host.cwd, folder);
  const isOutside = (one: string): boolean => !isBelow(host.path.resolve(base, one), base, host);
  const outside = [...new Set(named as string[])].filter(isOutside);
  if (outside.length === 0) return [];
  const message = `The configuration reads ${countText(outside.length, "file")} outside of its folder: ${someOf(outside)}`;
  const note = warningOf("reads-outside", message, { subject: "files", all: outside });
  return [{ ...note, severity: "note" }];
}
