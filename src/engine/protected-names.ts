import { namesIn } from "../meaning/line.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { HOUSEHOLD_TABLE } from "./household-table.ts";

/**
 * Names whose loss breaks devices, not only pages. Maintained by hand; `guards.protect` adds names, `guards.may_block` removes
 * some.
 */

/** Without these a device reports no network, the wrong time or no valid certificate. */
const LIFELINES: readonly string[] = `
captive.apple.com
connectivitycheck.gstatic.com
connectivitycheck.android.com
clients3.google.com
www.gstatic.com
detectportal.firefox.com
www.msftconnecttest.com
www.msftncsi.com
dns.msftncsi.com
ipv6.msftconnecttest.com
nmcheck.gnome.org
connectivity-check.ubuntu.com
network-test.debian.org
ping.archlinux.org
time.apple.com
time.windows.com
time.google.com
time.android.com
time.cloudflare.com
time.nist.gov
pool.ntp.org
0.pool.ntp.org
ntp.ubuntu.com
ocsp.apple.com
ocsp2.apple.com
valid.apple.com
crl.apple.com
certs.apple.com
ocsp.digicert.com
crl3.digicert.com
crl4.digicert.com
cacerts.digicert.com
ocsp.sectigo.com
crl.sectigo.com
ocsp.globalsign.com
crl.globalsign.com
ocsp.godaddy.com
ocsp.entrust.net
crl.entrust.net
ocsp.pki.goog
c.pki.goog
i.pki.goog
r3.o.lencr.org
r10.o.lencr.org
e5.o.lencr.org
x1.c.lencr.org
crl.microsoft.com
ocsp.msocsp.com
oneocsp.microsoft.com
ctldl.windowsupdate.com
acme-v02.api.letsencrypt.org
`
  .trim()
  .split("\n");

/** System updates, sign-in, and the servers of software and lists. */
const NEEDED: readonly string[] = `
www.microsoft.com
update.microsoft.com
download.windowsupdate.com
windowsupdate.microsoft.com
dl.delivery.mp.microsoft.com
login.microsoftonline.com
gdmf.apple.com
mesu.apple.com
swcdn.apple.com
swscan.apple.com
updates.cdn-apple.com
appldnld.apple.com
courier.push.apple.com
mtalk.google.com
android.clients.google.com
play.googleapis.com
dl.google.com
accounts.google.com
fcm.googleapis.com
deb.debian.org
security.debian.org
archive.ubuntu.com
security.ubuntu.com
mirrors.fedoraproject.org
dl-cdn.alpinelinux.org
geo.mirror.pkgbuild.com
downloads.openwrt.org
archive.raspberrypi.com
aus5.mozilla.org
addons.mozilla.org
download.mozilla.org
registry.npmjs.org
pypi.org
files.pythonhosted.org
static.crates.io
index.crates.io
proxy.golang.org
rubygems.org
repo.maven.apache.org
registry-1.docker.io
auth.docker.io
ghcr.io
quay.io
github.com
api.github.com
codeload.github.com
raw.githubusercontent.com
objects.githubusercontent.com
gitlab.com
cdn.jsdelivr.net
adguardteam.github.io
`
  .trim()
  .split("\n");

export const PROTECTED_NAMES: readonly string[] = [...LIFELINES, ...NEEDED];

/** The names that one list protects. */
export interface ProtectedSet {
  readonly names: readonly string[];
  /** Names that people need, besides these, with their kinds. */
  readonly household: ReadonlyMap<string, string>;
  readonly lifelines: ReadonlySet<string>;
  /** Entries of `may_block` that are neither protected names nor kinds of them. */
  readonly unknown: readonly string[];
}

/** The names that entries of `guards.may_block` match. */
export function waivedNames(mayBlock: readonly string[]): string[] {
  return mayBlock.map((entry) => namesIn(entry)[0] ?? entry);
}

/** Tells whether entries of `guards.may_block` are for a name or one of its parents. */
export function waiverOf(mayBlock: readonly string[] = []): (name: string) => boolean {
  const waived = new Set(waivedNames(mayBlock));
  return (name) => withParents(name).some((parent) => waived.has(parent));
}

/** `own` has the names of `guards.protect` and the servers of the sources. */
export function protectedSet(
  own: readonly string[],
  mayBlock: readonly string[],
  isPopular: (name: string) => boolean = () => false,
): ProtectedSet {
  const all = new Set([...own, ...PROTECTED_NAMES]);
  const household = new Map(householdKinds());
  const unknown: string[] = [];
  const waived = waivedNames(mayBlock);
  for (const [index, entry] of mayBlock.entries()) {
    const name = waived[index]!;
    if (!isKind(entry) && !all.has(name) && !household.has(name) && !isPopular(name))
      unknown.push(entry);
  }
  for (const name of all) household.delete(name);
  const isWaived = waiverOf(mayBlock);
  if (mayBlock.length > 0)
    for (const [name, kind] of household)
      if (mayBlock.includes(kind) || isWaived(name)) household.delete(name);
  for (const name of waived) all.delete(name);
  return { names: [...all], household, lifelines: new Set([...own, ...LIFELINES]), unknown };
}

/** A remote source never blocks names of these kinds. The strictest is first. */
export const STRICT_KINDS: readonly string[] =
  "infrastructure os payment bank health government mail search".split(" ");
/** Some lists block names of these kinds on purpose. */
export const ACCEPTED_KINDS: readonly string[] =
  "messenger vendor shop streaming games social".split(" ");

const KINDS: readonly string[] = [...STRICT_KINDS, ...ACCEPTED_KINDS];

function isKind(text: string): boolean {
  return KINDS.includes(text);
}

/** Whether lists exist that block names of this kind on purpose. */
export function isAcceptedKind(kind: string): boolean {
  return ACCEPTED_KINDS.includes(kind);
}

let tableKinds: ReadonlyMap<string, string> | undefined;

/** The names that people need, with their kinds. */
export function householdKinds(): ReadonlyMap<string, string> {
  tableKinds ??= readTable(HOUSEHOLD_TABLE);
  return tableKinds;
}

/** How many of the names are of each kind. */
export function countKinds(names: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) {
    const kind = householdKinds().get(name);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** If a name is there twice, the stricter kind wins. Infrastructure has no `www`. */
export function readTable(table: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let kind = "";
  for (const token of table.trim().split(/\s+/)) {
    if (token.endsWith(":")) kind = token.slice(0, -1);
    if (!token.includes(".")) continue;
    const [name = "", ...hosts] = token.split("+");
    const all = hosts.map((host) => `${host}.${name}`);
    if (kind !== "infrastructure") all.push(`www.${name}`);
    for (const one of [name, ...all]) {
      const known = names.get(one);
      if (known === undefined || KINDS.indexOf(kind) < KINDS.indexOf(known)) names.set(one, kind);
    }
  }
  return names;
}
