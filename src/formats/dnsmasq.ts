import { type NameFormat, commentHeader } from "./name-format.ts";

export const dnsmasq: NameFormat = {
  summary: "`address=/name/` for a configuration file; needs a restart to take effect.",
  usedBy: "dnsmasq, OpenWrt",
  extension: ".dnsmasq.conf",
  answers: ["nxdomain", "null"],
  lines({ answer }) {
    const end = answer === "null" ? "#" : "";
    return {
      subtree: [`address=/%/${end}`],
      // The more specific line wins: names below are forwarded.
      exact: [`address=/%/${end}`, "server=/*.%/#"],
      below: [`address=/*.%/${end}`],
      allowSubtree: ["server=/%/#"],
      allowBelow: ["server=/*.%/#"],
    };
  },
  header: commentHeader("#"),
  memoryPerName: 100,
  isMeasured: true,
};
