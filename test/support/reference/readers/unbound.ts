import { type AnswerTest, type FormatFiles, answerOf } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

const ZONES: Readonly<Record<string, string>> = {
  always_transparent: "",
  always_nxdomain: "NXDOMAIN",
  always_null: "A 0.0.0.0, AAAA ::",
  always_nodata: "NOERROR",
  always_refuse: "REFUSED",
};

/**
 * unbound.conf(5): of all `local-zone`s above a name the closest one answers. `local-data` without a zone of its own makes a
 * transparent one for that name: the name is answered, others are resolved. A closer or equal zone of a type that begins with
 * `always_` ignores data. A zone of type `redirect` answers with the data at its own name, has no other data, and follows aliases.
 */
export function unboundAnswers({ block }: FormatFiles): AnswerTest {
  const zones = new Map<string, string>();
  const data = new Map<string, readonly string[]>();
  for (const line of linesOf(block, "#")) {
    if (line === "server:") continue;
    const own = /^local-data: "(?<name>[a-z0-9_.-]+)\. (?<record>(?:A|AAAA|CNAME) \S+)"$/.exec(
      line,
    )?.groups;
    if (own !== undefined) {
      const record = own["record"]!.toLowerCase().replace(/^\w+/, (type) => type.toUpperCase());
      data.set(own["name"]!, [...(data.get(own["name"]!) ?? []), record]);
      continue;
    }
    const { name, type } =
      /^local-zone: "(?<name>[a-z0-9_.-]+)\." (?<type>\w+)$/.exec(line)?.groups ?? {};
    if (name === undefined || type === undefined) throw new RefusedFile(line);
    if (ZONES[type] === undefined && type !== "redirect") throw new RefusedFile(line);
    if (zones.has(name)) throw new RefusedFile(`twice: ${line}`);
    zones.set(name, type);
  }
  const zoneOf = (name: string): string | undefined =>
    withAncestors(name).find((parent) => zones.has(parent));
  for (const [name, records] of data) {
    const zone = zoneOf(name);
    if (zone !== name && zones.get(zone ?? "") === "redirect")
      throw new RefusedFile(`data below a redirect: ${name}`);
    const isAlias = records.some((one) => one.startsWith("CNAME"));
    if (isAlias && (records.length > 1 || zone !== name))
      throw new RefusedFile(`an alias that is not followed: ${name}`);
  }
  const said = (name: string): string =>
    answerOf(data.get(name) ?? []).replace(/^(CNAME .*)\.$/, "$1");
  return (name) => {
    const zone = zoneOf(name);
    if (zone === undefined) return said(name);
    const type = zones.get(zone)!;
    return type === "redirect" ? said(zone) : ZONES[type]!;
  };
}
