import { durationMs, nearest, printable, someOf } from "../diagnostics/text.ts";
import { bareHost, isPublicAddress, literalAddress } from "../host/network.ts";
import type { Config, HookConfig } from "./lists.ts";
import { type Resolver, resolversNamed, resolversOf } from "./resolvers.ts";
import type { HookEvent } from "../documents/facts.ts";

interface HookProblem {
  /** The position of the hook. */
  readonly index: number;
  readonly message: string;
  readonly hint?: string;
}

type HookFault = Omit<HookProblem, "index">;

const FORMS = ["run", "post", "reload"] as const;
const LONGEST_MS = 3_600_000;
const ABSOLUTE = /^(?:[\\/]|[a-z]:[\\/])/i;

/** Those that are reloaded by requests. */
const API = new Set<ReloadName>(["adguard-home", "pi-hole", "technitium"]);
const RELOAD_FIELDS = ["with", "pid_file", "url", "user", "token_file"] as const;

/** Problems of hooks whose fields have the right types. */
export function hookProblems(config: Config): HookProblem[] {
  const { after = [] } = config;
  const resolvers = resolversOf(config);
  const names = resolvers.flatMap(({ name, group }) => (group === "" ? [name] : [name, group]));
  const known = [...new Set(names)];
  return after.flatMap((hook, index) => {
    const at = `after[${index}]`;
    const isRepeated =
      hook.name !== undefined &&
      after.some(({ name }, other) => other !== index && name === hook.name);
    const repeated = {
      message: `${at} has the same name as another hook`,
      hint: "Give each its own",
    };
    const own = resolversNamed(hook.each ?? [], resolvers).map((one) => hookFor(hook, one));
    const problems = (own.length === 0 ? [hook] : own).flatMap((one) => [...problemsOf(one, at)]);
    const found = [
      ...new Map(problems.map((problem) => [problem.message, problem])).values(),
      ...(isRepeated ? [repeated] : []),
      ...ownerProblems(hook, known, at),
    ];
    return found.map((problem) => ({ index, ...problem }));
  });
}

/** What can happen to a resolver. */
const OF_RESOLVERS: ReadonlySet<HookEvent> = new Set(["published", "degraded", "recovered"]);

function* ownerProblems(
  { each: owners, on = [], as }: HookConfig,
  known: readonly string[],
  at: string,
): Generator<HookFault> {
  if (owners === undefined) return;
  if (owners.length === 0)
    yield { message: `${at}.each is empty`, hint: "Name a resolver, or remove it" };
  for (const one of owners.filter((name) => !known.includes(name))) {
    const meant = nearest(one, known);
    yield {
      message: `${at} has the resolver ${printable(one, 60)}, which does not exist`,
      hint:
        meant === undefined
          ? `Known names: ${someOf(known) || "none; add resolvers to the configuration"}`
          : `Did you mean "${printable(meant)}"?`,
    };
  }
  const other = on.find((event) => !OF_RESOLVERS.has(event));
  if (other !== undefined || as === "healthchecks")
    yield {
      message: `${at}.each does not apply to ${other ?? "healthchecks"}`,
      hint: "That is about the list; write a hook without each",
    };
}

/** A hook of one resolver. */
export interface OwnedHook {
  /** What names it in messages: unlike those of all others. */
  readonly title: string;
  readonly hook: HookConfig;
  /** Undefined if it belongs to none. */
  readonly resolver: Resolver | undefined;
}

/** The hooks of a configuration in order, one for each resolver that a hook belongs to. */
export function ownedHooks(
  hooks: readonly HookConfig[],
  resolvers: readonly Resolver[],
): OwnedHook[] {
  const kinds = hooks.map(titleOf);
  return hooks.flatMap((hook, index): OwnedHook[] => {
    const kind = kinds[index]!;
    const isAlone = kinds.indexOf(kind) === kinds.lastIndexOf(kind);
    const title = isAlone ? kind : `${kind} (after[${index}])`;
    if (hook.each === undefined) return [{ title, hook, resolver: undefined }];
    return resolversNamed(hook.each, resolvers).map((resolver) => ({
      title: `${title} for ${printable(resolver.name, 60)}`,
      hook: hookFor(hook, resolver),
      resolver,
    }));
  });
}

/** Without a name of its own: its arguments may be long or private, so they are left out. */
function titleOf({ name, run, as, reload }: HookConfig): string {
  if (name !== undefined) return printable(name, 60);
  if (run !== undefined) return `run ${printable(run[0] ?? "", 80)}`;
  return reload === undefined ? (as === undefined ? "post" : `post ${as}`) : `reload ${reload}`;
}

/** The hook with the name and address of a resolver in the place of `{resolver}` and `{address}`. */
function hookFor(hook: HookConfig, { name, address }: Resolver): HookConfig {
  const filled = (text: string): string =>
    text.replace(/\{(?:resolver|address)\}/g, (one) => (one === "{address}" ? address : name));
  const entries = Object.entries(hook).map(([key, value]) => {
    if (!FILLED.has(key)) return [key, value];
    return [key, typeof value === "string" ? filled(value) : (value as string[]).map(filled)];
  });
  return Object.fromEntries(entries) as HookConfig;
}

const FILLED: ReadonlySet<string> = new Set([
  "run",
  "post",
  "with",
  "pid_file",
  "url",
  "token_file",
]);

function* problemsOf(hook: HookConfig, at: string): Generator<HookFault> {
  const forms = FORMS.filter((form) => hook[form] !== undefined);
  if (forms.length !== 1) {
    const message = `${at} must have exactly one of run, post and reload`;
    return yield { message, hint: "Write one entry for each" };
  }
  const { run, post, reload, on, timeout } = hook;
  if (on?.length === 0) yield { message: `${at}.on is empty`, hint: "Name an event, or remove it" };
  const ms = timeout === undefined ? 1 : (durationMs(timeout) ?? 0);
  if (ms <= 0 || ms > LONGEST_MS)
    yield { message: `${at}.timeout must be longer than 0 and at most 1h` };
  for (const text of textsOf(hook))
    if (text.includes("\u0000")) yield { message: `${at} contains a NUL character` };
  if (reload === undefined)
    for (const field of RELOAD_FIELDS)
      if (hook[field] !== undefined && (post === undefined || field !== "token_file"))
        yield { message: `${at}.${field} is a setting of reload` };
  if (run !== undefined) yield* runProblems(run, at);
  if (hook.as !== undefined && post === undefined)
    yield { message: `${at}.as is a setting of post` };
  if (hook.as === "healthchecks" && on !== undefined)
    yield {
      message: `${at}.on does not apply to healthchecks`,
      hint: "Remove it: healthchecks expects a message after every run",
    };
  if (reload !== undefined) yield* reloadProblems(hook, reload, at);
}

function textsOf({ run, post, with: words, pid_file: pid, url, user, token_file }: HookConfig) {
  const texts = [...(run ?? []), ...(words ?? []), post, pid, url, user, token_file];
  return texts.filter((text) => text !== undefined);
}

function* runProblems(run: readonly string[], at: string): Generator<HookFault> {
  const [program = ""] = run;
  if (program.trim() === "")
    yield { message: `${at}.run has no program`, hint: 'Write ["/path/to/program", "argument"]' };
  else if (/[\\/]/.test(program) && !ABSOLUTE.test(program))
    yield {
      message: `${at}.run[0] is a relative path`,
      hint: "Write an absolute path, or the name of a program in PATH",
    };
}

function* reloadProblems(hook: HookConfig, reload: ReloadName, at: string): Generator<HookFault> {
  const isApi = API.has(reload);
  const isSignal = reload === "dnsmasq";
  const taken = isApi ? ["url", "user", "token_file"] : isSignal ? ["pid_file"] : ["with"];
  for (const field of RELOAD_FIELDS)
    if (hook[field] !== undefined && !taken.includes(field))
      yield { message: `${at}.${field} does not apply to ${reload}` };
  if (!isApi) return;
  const { url, user, token_file: token } = hook;
  if (reload === "adguard-home" && (user === undefined) !== (token === undefined))
    yield { message: `${at} needs user and token_file, or neither` };
  if (reload === "technitium" && token === undefined)
    yield { message: `${at} needs token_file`, hint: "Create an API token in Technitium" };
  if (url === undefined) yield { message: `${at} needs url`, hint: "The URL of its web page" };
  else if (!URL.canParse(url) || !mayReceiveSecrets(new URL(url)))
    yield {
      message: `${at}.url must be an https URL without a password`,
      hint: "http is possible for this machine and for private IP addresses",
    };
}

/** Whether a secret may be sent there: over https, or unencrypted to this machine or a private IP address. */
export function mayReceiveSecrets({ protocol, hostname, username, password }: URL): boolean {
  if (username !== "" || password !== "") return false;
  if (protocol === "https:") return true;
  return protocol === "http:" && isNear(hostname);
}

/** Whether a host is this machine or a private IP address. */
export function isNear(hostname: string): boolean {
  if (bareHost(hostname) === "localhost") return true;
  const address = literalAddress(hostname);
  return address !== undefined && !isPublicAddress(address);
}

/** Fields of an entry of `after`. `after/hook-actions.ts` has an entry for each value. */
export const HOOK_FIELDS = {
  name: {
    type: "string",
    default: "what it does, such as `run sh` or `reload unbound`",
    description: "Name of the hook in messages and metrics.",
    example: "drain",
    beside: { run: ["/usr/local/bin/drain"] },
  },
  run: {
    type: "strings",
    default: "nothing",
    description:
      "A program and its arguments. No shell is involved. The program is an absolute path or a name in `PATH`.",
    example: ["/usr/local/bin/on-publish", "--quiet"],
  },
  post: {
    type: "string",
    default: "nothing",
    description:
      "Sends a message: the path of a file that holds the URL, which is a secret. See [hooks](../guide/hooks.md#send-a-message) for services.",
    example: "/etc/rules-compiler/webhook",
  },
  as: {
    type: "choice",
    default:
      "that of the service for the hosts of Slack, Discord, Telegram and ntfy.sh, otherwise `json`",
    values: {
      json: "Everything that `run` receives",
      slack: "A message for an incoming webhook of Slack",
      discord: "A message for a webhook of Discord, which notifies no user",
      ntfy: "A message for ntfy.sh or an ntfy server of your own",
      telegram: "A message for a bot of Telegram",
      healthchecks: "A ping for Healthchecks after every run, without `on`",
    },
    description: "For `post`: the form of the message.",
    example: "ntfy",
    beside: { post: "/etc/rules-compiler/ntfy" },
  },
  reload: {
    type: "choice",
    default: "nothing",
    values: {
      unbound: "Runs `unbound-control reload`",
      bind: "Runs `rndc reload`",
      "knot-resolver": "Runs `kresctl reload --force` of Knot Resolver 6",
      "knot-resolver-5": "Runs `systemctl restart kresd@*`",
      "powerdns-recursor": "Runs `rec_control reload-lua-config`",
      dnsdist: "Runs `reloadList()`, a function of your configuration",
      dnsmasq: "Sends SIGHUP to the process in `pid_file`",
      smartdns: "Runs `systemctl restart smartdns`",
      "adguard-home": "Makes AdGuard Home download its lists, through its API",
      "pi-hole": "Makes Pi-hole 6 download its lists, through its API",
      technitium: "Makes Technitium download its lists, through its API",
    },
    description:
      "Makes a resolver read its list again; [hooks](../guide/hooks.md#reload-a-resolver) says what each needs.",
    example: "unbound",
  },
  with: {
    type: "strings",
    default: "nothing",
    description:
      "For `reload`: options of the control program, placed before its command, such as `-c` and a configuration file.",
    example: ["-c", "/etc/unbound/other.conf"],
    beside: { reload: "unbound" },
  },
  pid_file: {
    type: "string",
    default: "`/run/dnsmasq/dnsmasq.pid`",
    description: "For `reload: dnsmasq`: its PID file.",
    example: "/run/dnsmasq.pid",
    beside: { reload: "dnsmasq" },
  },
  url: {
    type: "string",
    default: "nothing; these three need it",
    description:
      "For `reload` of AdGuard Home, Pi-hole and Technitium: the URL of the web interface. It must be https, except for this machine and private addresses.",
    example: "http://192.168.1.2:3000",
    beside: { reload: "pi-hole" },
  },
  user: {
    type: "string",
    default: "nothing",
    description: "For `reload: adguard-home`: the user name.",
    example: "admin",
    beside: {
      reload: "adguard-home",
      url: "http://192.168.1.2:3000",
      token_file: "/etc/rules-compiler/adguard-home",
    },
  },
  token_file: {
    type: "string",
    default: "nothing",
    description:
      "File that holds a token: for `post`, which sends it as `Authorization: Bearer`, or for `reload` by API, the password (AdGuard Home, Pi-hole) or API token (Technitium).",
    example: "/etc/rules-compiler/pi-hole",
    beside: { reload: "pi-hole", url: "http://192.168.1.2" },
  },
  each: {
    type: "strings",
    default: "nothing",
    description:
      "Names or groups of `resolvers` that the hook belongs to. It runs once for each of them, for at most a quarter of all resolvers at the same time: when its list is published (and again while it is not proved), and with `on` when it is no longer proved (`degraded`) and proved again (`recovered`). `{resolver}` and `{address}` in its other settings are replaced.",
    example: ["edge"],
    beside: { reload: "unbound", with: ["-s", "{address}"] },
    needs: { resolvers: [{ name: "edge1", address: "192.0.2.53", group: "edge" }] },
  },
  on: {
    type: "choices",
    default: "`[published]`",
    values: {
      published: "Files changed",
      refused: "A guard refused the list",
      degraded: "A source failed and was skipped or replaced by its last good copy",
      recovered: "The first good run afterwards",
      failed: "The list could not be built",
    },
    description: "When it runs. All but `published` only when the state begins.",
    example: ["refused", "failed", "recovered"],
    beside: { post: "/etc/rules-compiler/webhook" },
  },
  timeout: {
    type: "duration",
    default: "`60s`",
    description:
      'How long it may take, at most `1h`. A program is then ended with all processes that it started. The control program of PowerDNS Recursor waits as long; that of BIND waits for a minute, and longer only with `with: ["-t", "600"]`, which newer versions have.',
    example: "10s",
    beside: { reload: "unbound" },
  },
} as const;

/** Services whose documented form of a message `post` can send. */
export type PostForm = keyof typeof HOOK_FIELDS.as.values;
/** Resolvers that `reload` knows. */
export type ReloadName = keyof typeof HOOK_FIELDS.reload.values;
