import { type NameFormat, commentHeader } from "./name-format.ts";

export const domains: NameFormat = {
  summary:
    "One name per line. It blocks that name alone; some programs include the names below it.",
  usedBy: "Pi-hole, blocky, smartdns (domain-set), many others",
  extension: ".domains",
  lines: () => ({ exact: ["%"] }),
  header: commentHeader("#"),
  memoryPerName: 150,
};
