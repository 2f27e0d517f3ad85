import { encodeUtf8 } from "../bytes/utf8.ts";
import type { TargetConfig } from "../config/config.ts";
import { sizeBytes } from "../config/size.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOf } from "../sources/source-store.ts";
import { CopyFailure, GitProgram } from "./git-program.ts";
import type { PublishedFolder, Target, TargetEnd, TargetSetting } from "./target.ts";
import { TargetFailure } from "./target-failure.ts";

type GitConfig = NonNullable<TargetConfig["git"]>;

/** The last line of the message of each commit. A branch whose commit lacks it is never replaced. */
const MARK = "Published-by: rules-compiler";
/** The line before it, with the name of the configuration. */
const OWNER = /^Configuration: (.*)$/m;
/** The local name of the commit that the branch had last. */
const KNOWN = "refs/heads/published";
/** The local name of a commit of another client. */
const FETCHED = "refs/heads/fetched";
const ID = /^[0-9a-f]{40,64}$/m;
const DEFAULT_FILE = "100M";
const DEFAULT_TOTAL = "1G";

/** A branch with a single commit, which each publish replaces. */
export const gitBranch: Target = {
  titleOf: ({ git }) => `branch ${git!.branch} of ${withoutCredentials(git!.remote)}`,
  async publish({ git: config }, folder, setting) {
    checkSizes(config!, folder);
    if (folder.missing.length > 0)
      throw new TargetFailure(
        `the branch would lose ${someOf(folder.missing)}: not published in the rules directory`,
        "Publish all lists once; guards and sources say why a list is not",
      );
    return await new BranchPublish(config!, folder, setting).run();
  },
};

/** Throws a `TargetFailure` for what the forge would reject after minutes of upload. */
function checkSizes(config: GitConfig, { files }: PublishedFolder): void {
  const { max_file: most = DEFAULT_FILE, max_total: mostTotal = DEFAULT_TOTAL } = config;
  const large = files.filter(({ bytes }) => bytes > sizeBytes(most)!);
  const hint = "Split the output (split: max_bytes), or raise the limit if the forge accepts more";
  if (large.length > 0) {
    const names = large.map(({ name, bytes }) => `${name} (${mebibytes(bytes)})`);
    throw new TargetFailure(`over max_file ${most}: ${someOf(names)}; nothing was pushed`, hint);
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > sizeBytes(mostTotal)!)
    throw new TargetFailure(
      `${countText(files.length, "file has", "files have")} ${mebibytes(total)}, over max_total ${mostTotal}; nothing was pushed`,
      hint,
    );
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** One publish. */
class BranchPublish {
  private readonly config: GitConfig;
  private readonly folder: PublishedFolder;
  private readonly setting: TargetSetting;
  private readonly remote: string;
  private readonly ref: string;
  private git!: GitProgram;

  constructor(config: GitConfig, folder: PublishedFolder, setting: TargetSetting) {
    const { path } = setting.host;
    const { remote, branch } = config;
    this.config = config;
    this.folder = folder;
    this.setting = setting;
    // What is not an address is a folder, relative to the configuration.
    this.remote = /^(?:[a-z][a-z0-9+.-]*:\/\/|[^/\\]{2,}:)/i.test(remote)
      ? remote
      : path.resolve(setting.folder, remote);
    this.ref = `refs/heads/${branch}`;
  }

  async run(): Promise<TargetEnd> {
    try {
      return await this.attempt();
    } catch (error) {
      if (!(error instanceof CopyFailure)) throw error;
      // A power cut or a killed run damaged the copy.
      await this.empty(this.git.repository);
      return await this.attempt();
    }
  }

  private async attempt(): Promise<TargetEnd> {
    const { files } = this.folder;
    await this.open();
    const tip = await this.tip();
    if (tip !== undefined) await this.learn(tip);
    const tree = await this.tree();
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
    const end = { files: files.length, bytes };
    if (tip !== undefined && (await this.id(["rev-parse", `${tip}^{tree}`])) === tree)
      return { outcome: "unchanged", ...end };
    const commit = await this.commit(tree);
    // Without a common history, git takes the files of the old commit as a base only in a shallow repository.
    if (tip !== undefined) await this.write("shallow", `${tip}\n`);
    const lease = `--force-with-lease=${this.ref}:${tip ?? ""}`;
    await this.git.run(["push", "--quiet", lease, "--", this.remote, `${commit}:${this.ref}`]);
    const removed = tip === undefined ? 0 : await this.removed(tip, tree);
    await this.tidy(commit);
    return { outcome: "published", ...end, ...(removed > 0 && { removed }) };
  }

  /** How many files the branch has lost. */
  private async removed(tip: string, tree: string): Promise<number> {
    const words = ["diff-tree", "-r", "--name-only", "--diff-filter=D", "-z", tip, tree];
    return (await this.git.run(words)).split("\0").length - 1;
  }

  /** Keeps only the last commit, from which git sends differences. The branch is published, whatever happens here. */
  private async tidy(commit: string): Promise<void> {
    try {
      await this.git.run(["update-ref", KNOWN, commit]);
      await this.git.run(["gc", "--quiet", "--prune=now"]);
    } catch (error) {
      if (!(error instanceof TargetFailure)) throw error;
    }
  }

  /** Opens the local repository, which keeps the last commit. */
  private async open(): Promise<void> {
    const { host, stateFolder } = this.setting;
    const key = await digestOf(`${this.remote}\n${this.ref}`);
    const repository = host.path.join(stateFolder, `publish-${key.slice(0, 16)}.git`);
    this.git ??= new GitProgram(repository, this.setting);
    if (!(await host.exists(host.path.join(repository, "HEAD"))))
      await this.git.run(["init", "--quiet", "--bare", "--template="]);
  }

  /** Removes all files of a folder. */
  private async empty(folder: string): Promise<void> {
    const { host } = this.setting;
    for (const name of await host.listFolder(folder)) {
      const path = host.path.join(folder, name);
      if ((await host.kindOf(path)) === "folder") await this.empty(path);
      else
        await host.removeFile(path).catch((error: unknown) => {
          if (!(error instanceof HostError)) throw error;
          throw new TargetFailure(`${printable(path)} cannot be removed: ${error.code}`);
        });
    }
  }

  /** The commit of the remote branch; undefined if there is no such branch. */
  private async tip(): Promise<string | undefined> {
    const output = await this.git.run(["ls-remote", "--", this.remote, this.ref]);
    for (const line of output.split("\n")) {
      const [id = "", ref] = line.split("\t");
      if (ref === this.ref && ID.test(id)) return id;
    }
    return undefined;
  }

  /** Checks who made the commit of the remote branch, and fetches it if it is not the last that was pushed from here. */
  private async learn(tip: string): Promise<void> {
    const known = await this.git.end(["rev-parse", "--verify", "--quiet", KNOWN]);
    const isNew = ID.exec(known.output)?.[0] !== tip;
    if (isNew) await this.fetch(tip);
    const text = await this.git.run(["cat-file", "commit", tip]);
    const [head = ""] = text.split("\n\n");
    const isOurs = head.startsWith("tree ") && !/^parent /m.test(head);
    if (!isOurs || text.trimEnd().split("\n").at(-1) !== MARK)
      throw new TargetFailure(
        `the commit ${tip.slice(0, 12)} of ${printable(this.config.branch)} is not by rules-compiler; nothing was pushed`,
        "Use a branch that nothing else uses; or delete this one, after you have saved what is in it",
      );
    // Another configuration would lose its files.
    const owner = OWNER.exec(text)?.[1];
    if (owner !== undefined && owner !== this.owner())
      throw new TargetFailure(
        `the branch has the lists of another configuration: ${printable(owner, 60)}; nothing was pushed`,
        "Use a branch for each configuration; or delete this one, if its lists are no longer needed",
      );
    if (!isNew) return;
    await this.git.run(["update-ref", KNOWN, tip]);
    await this.git.run(["update-ref", "-d", FETCHED]);
  }

  /** Gets the commit of the remote branch. */
  private async fetch(tip: string): Promise<void> {
    await this.git.run([
      "fetch",
      "--quiet",
      "--depth=1",
      "--no-tags",
      "--no-write-fetch-head",
      "--",
      this.remote,
      `+${this.ref}:${FETCHED}`,
    ]);
    const fetched = await this.id(["rev-parse", FETCHED]);
    if (fetched !== tip)
      throw new TargetFailure("another client changed the branch at the same time");
  }

  /** The name of the configuration, in one line. */
  private owner(): string {
    return printable(this.setting.name, 80);
  }

  /** Stores the files and returns their tree. */
  private async tree(): Promise<string> {
    const { git, folder, setting } = this;
    const { host } = setting;
    const index = host.path.join(git.repository, `index-${host.processId().pid}`);
    const env = { GIT_INDEX_FILE: index };
    // Bytes are stored as they are, whatever .gitattributes there are.
    await this.write("info/attributes", "* -text -filter -ident -working-tree-encoding\n");
    try {
      await git.run(["read-tree", "--empty"], { env });
      await git.run(
        [
          "--literal-pathspecs",
          `--work-tree=${folder.path}`,
          "add",
          "--force",
          "--pathspec-from-file=-",
          "--pathspec-file-nul",
        ],
        // From the work tree, paths are relative to it.
        { env, input: folder.files.map(({ path }) => path).join("\0") },
      );
      return await this.id(["write-tree"], env);
    } finally {
      await host.removeFile(index).catch(() => {});
    }
  }

  private async write(name: string, text: string): Promise<void> {
    const { host } = this.setting;
    const path = host.path.join(this.git.repository, name);
    try {
      await host.makeFolder(host.path.dirname(path));
      await writeWhole(path, host, (file) => file.write(encodeUtf8(text)));
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw new TargetFailure(`${printable(path)} cannot be written: ${error.code}`);
    }
  }

  private async commit(tree: string): Promise<string> {
    const { host } = this.setting;
    const { lists } = this.folder;
    const what = lists.length === 1 ? printable(lists[0]!, 60) : countText(lists.length, "list");
    const date = `@${Math.floor(host.now().getTime() / 1000)} +0000`;
    const name = host.env["GIT_AUTHOR_NAME"] || "rules-compiler";
    const email = host.env["GIT_AUTHOR_EMAIL"] || "rules-compiler@localhost";
    const env = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    };
    const input = `Publish ${what}\n\nConfiguration: ${this.owner()}\n${MARK}\n`;
    return await this.id(["commit-tree", tree, "-F", "-"], env, input);
  }

  /** The identifier that git printed. Rejects with a `TargetFailure`. */
  private async id(
    words: readonly string[],
    env: Readonly<Record<string, string>> = {},
    input = "",
  ): Promise<string> {
    const id = ID.exec(await this.git.run(words, { env, input }))?.[0];
    if (id === undefined) throw new TargetFailure(`git ${words[0]} printed no identifier`);
    return id;
  }
}
