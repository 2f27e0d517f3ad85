import { encodeUtf8 } from "../../bytes/utf8.ts";
import type { CombinedConfig } from "../../config/config.ts";
import { type Network, addressParts, networkText, overlap } from "../../config/network.ts";
import { DEFAULT_OPTIONS, commentHeader } from "../name-format.ts";
import { rpz } from "../rpz.ts";
import { type ClientLevel, clientViews, levelNames } from "./client-levels.ts";
import type { CombinedFormat } from "./combined-format.ts";
import { LevelZones, zoneName } from "./level-zones.ts";
import { provenCovers } from "./proven-covers.ts";

/**
 * BIND cannot share a policy zone between views, so groups share a view where possible. A client of a lower level stops at the zone
 * after its own: that zone lets its address pass.
 */
export const bindViews: CombinedFormat = {
  summary:
    "Views of BIND for groups of clients, with response policy zones. Groups share a view if one has the lists of the other; a view has every name once.",
  usedBy: "BIND",
  files: (config) => [
    ...levelNames(config).map((name) => ({ ending: `.${name}.rpz`, isZone: true as const })),
    { ending: "" },
  ],
  write({ config, lists, header, names }, { files, paths, serials, losses }) {
    const order = levelNames(config);
    const views = clientViews(config, provenCovers(lists, names));
    for (const view of views)
      for (const [index, level] of view.entries()) {
        const place = order.indexOf(level.name);
        const facts = { lines: header, serial: serials[place]! };
        const passing = view[index - 1]?.groups.flatMap(({ networks }) => networks) ?? [];
        const head = [
          ...rpz.header(facts, DEFAULT_OPTIONS),
          ...passing.map((network) => `${clientTrigger(network)} CNAME rpz-passthru.`),
        ];
        files[place]!.write(encodeUtf8(`${head.join("\n")}\n`));
      }
    const zones = views.map(
      (view) =>
        new LevelZones(
          view,
          view.map(({ name }) => files[order.indexOf(name)]!),
        ),
    );
    let count = 0;
    for (const entry of names(true)) {
      let isWritten = false;
      for (const zone of zones) if (zone.add(entry, losses)) isWritten = true;
      if (isWritten && entry.own !== 0) count++;
    }
    for (const zone of zones) zone.close();
    const pathOf = (name: string): string => paths[order.indexOf(name)]!;
    const text = [
      ...commentHeader("//")({ lines: header, serial: 0 }),
      ...conf(config, views, pathOf),
    ];
    files.at(-1)!.write(encodeUtf8(`${text.join("\n")}\n`));
    return count;
  },
};

/** The statements for `named.conf`. */
function conf(
  { include }: CombinedConfig,
  views: readonly (readonly ClientLevel[])[],
  pathOf: (level: string) => string,
): string[] {
  const groups = views.flat().flatMap((level) => level.groups);
  // The cache does not depend on policies. Each view would have its own otherwise.
  const common = [
    '  attach-cache "rules";',
    ...(include === undefined ? [] : [`  include ${quoted(include)};`]),
  ];
  const lines = groups.map(
    ({ name, networks }) =>
      `acl "rules-${name}" { ${networks.map((one) => `${networkText(one)};`).join(" ")} };`,
  );
  for (const view of views) {
    const own = view.flatMap((level) => level.groups);
    const zones = view.map(({ name }) => `zone "${zoneName(name)}";`).join(" ");
    lines.push(
      `view "rules-${view.at(-1)!.name}" {`,
      `  match-clients { ${clientsOf(own, groups)} };`,
      ...common,
      `  response-policy { ${zones} } break-dnssec yes qname-wait-recurse no min-update-interval 1;`,
      ...view.map(
        ({ name }) =>
          `  zone "${zoneName(name)}" { type primary; file ${quoted(pathOf(name))}; allow-query { none; }; allow-transfer { none; }; notify no; };`,
      ),
      "};",
    );
  }
  return [...lines, 'view "rules-others" {', "  match-clients { any; };", ...common, "};"];
}

/** The clients of a view. BIND uses the first network that matches; so the smallest are first, with those of other views. */
function clientsOf(own: ClientLevel["groups"], all: ClientLevel["groups"]): string {
  const networks = own.flatMap((group) => group.networks);
  const others = all
    .filter((group) => !own.includes(group))
    .flatMap((group) => group.networks)
    .filter((net) => networks.some((one) => overlap(one, net) && one.prefix < net.prefix));
  if (others.length === 0) return own.map(({ name }) => `"rules-${name}";`).join(" ");
  return [...networks, ...others]
    .toSorted((a, b) => b.prefix - a.prefix)
    .map((net) => `${others.includes(net) ? "!" : ""}${networkText(net)};`)
    .join(" ");
}

/** The name of a trigger for the address of a client: the prefix, then the address from its end. */
function clientTrigger(network: Network): string {
  const parts = addressParts(network).toReversed();
  const labels =
    network.family === 4 ? parts.map(String) : withoutZeros(parts.map((part) => part.toString(16)));
  return `${[network.prefix, ...labels].join(".")}.rpz-client-ip`;
}

/** The first of the longest runs of zeros becomes `zz`; BIND accepts no other form. */
function withoutZeros(parts: readonly string[]): string[] {
  let best = { from: 0, length: 1 };
  for (let from = 0; from < parts.length; from++) {
    let length = 0;
    while (parts[from + length] === "0") length++;
    if (length > best.length) best = { from, length };
  }
  if (best.length === 1) return [...parts];
  return [...parts.slice(0, best.from), "zz", ...parts.slice(best.from + best.length)];
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
