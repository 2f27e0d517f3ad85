import { encodeUtf8 } from "../bytes/utf8.ts";
import { readHostsLine } from "../syntax/hosts-line.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { isLocalName } from "../syntax/local-names.ts";
import { type ConfigReader, configOfLists } from "./imported-config.ts";

/** A hosts file, such as `/etc/hosts` or Pi-hole's `custom.list`: the addresses of the user's names. Names of every machine stay out. */
export const hostsFile: ConfigReader = ({ text }) => {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  const used = lines.filter((line) => line !== "");
  if (!used.every(isHostsLine)) return undefined;
  const userRules = used.flatMap((line) => filterNames(line, (name) => !isLocalName(name)) ?? []);
  return userRules.length === 0 ? undefined : { ...configOfLists("a hosts file", []), userRules };
};

function isHostsLine(line: string): boolean {
  const bytes = encodeUtf8(line);
  return readHostsLine(bytes, 0, bytes.length);
}
