import { type NameFormat, commentHeader } from "./name-format.ts";

export const dnsmasqServers: NameFormat = {
  summary: "`server=/name/` for `--servers-file`, which dnsmasq reloads on SIGHUP.",
  usedBy: "dnsmasq",
  extension: ".dnsmasq-servers",
  answers: ["nxdomain"],
  lines: () => ({
    subtree: ["server=/%/"],
    exact: ["server=/%/", "server=/*.%/#"],
    below: ["server=/*.%/"],
    allowSubtree: ["server=/%/#"],
    allowBelow: ["server=/*.%/#"],
  }),
  header: commentHeader("#"),
  memoryPerName: 110,
  isMeasured: true,
};
