import { maskCredentials, printable } from "../diagnostics/printable.ts";
import { HostError, type ProgramEnd } from "../host/host.ts";
import type { TargetSetting } from "./target.ts";
import { TargetFailure } from "./target-failure.ts";

/** Variables that would make git work on another repository, or print what it sends. */
const NOT_PASSED =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|QUARANTINE_PATH|TRACE.*|CURL_VERBOSE|REDACT_COOKIES)$/;
/** Settings of the user that must not change what is pushed. */
const SETTINGS = [
  "core.autocrlf=false",
  "core.safecrlf=false",
  "core.fileMode=false",
  "core.hooksPath=/dev/null",
  // With bitmaps, git sends whole files instead of differences.
  "pack.useBitmaps=false",
  "repack.writeBitmaps=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "push.followTags=false",
  "push.gpgSign=false",
];
const MOST_SHOWN = 300;
/** Commands that use more than the local repository. */
const NOT_LOCAL = new Set(["ls-remote", "fetch", "push", "add"]);
/** What they say about a damaged local repository. */
const DAMAGED =
  /bad object|(?:missing|corrupt|loose) (?:blob|tree|commit|object)|object file .* is empty|unable to read|packfile|mismatched algorithms|hash algorithm/;

/** A command failed because of the local repository, which can be made again. */
export class CopyFailure extends TargetFailure {}

export interface GitRun {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The `git` program with one bare repository. */
export class GitProgram {
  /** The repository. */
  readonly repository: string;
  private readonly setting: TargetSetting;
  private readonly until: number;

  constructor(repository: string, setting: TargetSetting) {
    this.repository = repository;
    this.setting = setting;
    this.until = setting.host.now().getTime() + setting.timeoutMs;
  }

  /** Runs it and returns what it printed. Rejects with a `TargetFailure`. */
  async run(words: readonly string[], more: GitRun = {}): Promise<string> {
    const { exit, output } = await this.end(words, more);
    if (exit === 0) return output;
    const command = words.find((word) => !word.startsWith("-")) ?? "";
    const { reason, hint } = reasonOf(command, output);
    throw new (this.isDamaged(command, output) ? CopyFailure : TargetFailure)(reason, hint);
  }

  /** Runs it to any exit code. */
  async end(words: readonly string[], { input = "", env = {} }: GitRun = {}): Promise<ProgramEnd> {
    const { host, folder, signal, timeoutMs } = this.setting;
    if (host.runProgram === undefined)
      throw new TargetFailure("this runtime cannot start other programs");
    const settings = SETTINGS.flatMap((one) => ["-c", one]);
    let end: ProgramEnd;
    try {
      end = await host.runProgram({
        words: ["git", `--git-dir=${this.repository}`, ...settings, ...words],
        folder,
        env: { ...this.environment(), ...env },
        input,
        timeoutMs: Math.max(1, this.until - host.now().getTime()),
        signal,
      });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.code === "ENOENT")
        throw new TargetFailure("the program git does not exist", "Install git");
      throw new TargetFailure(`git cannot be started: ${error.code}`);
    }
    if (end.isLate)
      throw new TargetFailure(`git took longer than ${timeoutMs / 1000} s`, "Set a longer timeout");
    if (signal.aborted) throw new TargetFailure("stopped");
    return end;
  }

  private isDamaged(command: string, output: string): boolean {
    if (!NOT_LOCAL.has(command)) return true;
    const name = this.setting.host.path.basename(this.repository);
    const own = output.split("\n").filter((line) => !line.startsWith("remote:"));
    return own.some((line) => line.includes(name) || DAMAGED.test(line));
  }

  /** Credentials may be in any variable, so git gets nearly all. */
  private environment(): Record<string, string> {
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.setting.host.env))
      if (value !== undefined && !NOT_PASSED.test(name)) env[name] = value;
    return {
      ...env,
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_DEFAULT_HASH: "sha1",
      // No `ext`, which starts programs.
      GIT_ALLOW_PROTOCOL: "file:http:https:ssh",
    };
  }
}

const CHANGED = /stale info|fetch first|reference already exists|cannot lock ref/;
const REASONS: readonly (readonly [RegExp, string, string])[] = [
  [
    /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|requested URL returned error: 40[13]|Host key verification failed/,
    "the server refused the credentials of git",
    "Try git ls-remote with the same address, then fix the credential helper or the ssh key",
  ],
  [
    /does not appear to be a git repository|[Rr]epository .*not found|does not exist|requested URL returned error: 404/,
    "the repository does not exist, or may not be read",
    "Check remote; try git ls-remote with the same address",
  ],
  [
    /protected branch|pre-receive hook declined|\[remote rejected\]/,
    "the server rejected the push",
    "Check the rules of the repository for this branch",
  ],
];

interface Reason {
  readonly reason: string;
  readonly hint?: string;
}

function reasonOf(command: string, output: string): Reason {
  const said = saidBy(output);
  const more = said === "" ? "" : `: ${said}`;
  if (command === "push" && CHANGED.test(output))
    return { reason: `another client changed the branch at the same time${more}` };
  // Other commands say such things about the local repository.
  const known = NOT_LOCAL.has(command) ? REASONS : [];
  for (const [pattern, reason, hint] of known)
    if (pattern.test(output)) return { reason: `${reason}${more}`, hint };
  return { reason: `git ${command} failed${more}` };
}

/** The most telling lines of what git printed, in one line and without secrets of addresses. */
function saidBy(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== "");
  // Rules of servers and hooks explain themselves in lines of the remote side; progress has numbers in percent.
  const explained = lines.filter((line) => /^(?:remote: (?!.*\d%)|ssh: )\s*\S/.test(line));
  const telling = [
    ...explained,
    ...lines.filter((line) => /^(?:fatal|error|!|ERROR)/.test(line.trim())),
  ];
  const text = (telling.length > 0 ? telling : lines.slice(-2)).join(" / ");
  return printable(maskCredentials(text).replaceAll("\t", " "), MOST_SHOWN);
}
