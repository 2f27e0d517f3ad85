import { type ConfigReader, nameOf, configOfLists } from "./imported-config.ts";

/** One address or path per line, as in Pi-hole's old `adlists.list`; comments are disabled lists. */
export const addressList: ConfigReader = ({ text }) => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const lists = lines.flatMap((line) => {
    const [, mark, source] = /^(#?)\s*(https?:\/\/\S+)/i.exec(line) ?? [];
    return source === undefined
      ? []
      : [{ name: nameOf(source), source, type: "hosts" as const, isOn: mark === "" }];
  });
  return lists.length === 0 ? undefined : configOfLists("a list of URLs", lists);
};
