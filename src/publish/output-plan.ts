import type { Host } from "../host/host.ts";
import type { Config, OutputConfig } from "../config/config.ts";
import { sizeBytes } from "../config/size.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { LossPolicy } from "../formats/format-writer.ts";
import type { SizeLimit } from "../formats/file-budget.ts";
import { DEFAULT_OPTIONS, type FormatOptions, type NameFormat } from "../formats/name-format.ts";
import { nameFormats } from "../formats/registry.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import type { OutputFile } from "./output-file.ts";
import { withPacked } from "./packed-files.ts";
import { type SplitLimits, stemOf } from "./split-file.ts";
import { fileNamed } from "./file-template.ts";

/** What an output will be, decided before anything is read. */
export interface OutputPlan {
  readonly formatName: string;
  readonly format: NameFormat;
  readonly options: FormatOptions;
  readonly policy: LossPolicy;
  /** Whether names are sorted. */
  readonly isSorted: boolean;
  /** Shown to users; `path` is absolute. */
  readonly name: string;
  readonly path: string;
  readonly allowName: string;
  readonly allowPath: string;
  /** Limits of one file, if the output may be split. */
  readonly limits: SplitLimits;
  readonly sizeLimit: SizeLimit;
  /** Whether rules for popular names stay first. */
  readonly isByRank: boolean;
  readonly packings: readonly ("gzip" | "zstd")[];
}

const LONGEST_ORIGIN = 100;

export interface OutputContext {
  /** The folder of the outputs, relative to the working directory. */
  readonly folder: string;
  readonly host: Pick<Host, "cwd" | "path">;
  /** Paths that outputs must not use. */
  readonly taken?: readonly string[];
  readonly plugins?: Plugins;
}

/** Plans the `outputs` of a configuration. Throws a `CompilerError` if one is invalid. */
export function planOutputs(
  config: Pick<Config, "name" | "outputs">,
  context: OutputContext,
): OutputPlan[] {
  const plans = (config.outputs ?? []).map((output, index) =>
    planOf(output, `outputs[${index}]`, config.name, context),
  );
  const { host } = context;
  const seen = new Set(context.taken);
  for (const { name, path } of plans.flatMap(plannedFiles)) {
    if (seen.has(path))
      throw invalid(`outputs write ${printable(name)} twice`, "Give each output its own `file`");
    seen.add(path);
  }
  const split = plans.filter(({ limits }) => Math.min(limits.names, limits.bytes) !== Infinity);
  for (const { path, name } of split.flatMap(plainFiles)) {
    const start = `${path.slice(0, path.length - host.path.basename(path).length)}${stemOf(path, host)}-`;
    const isPart = (file: string): boolean =>
      file.startsWith(start) && /^\d+(?:\.|$)/.test(file.slice(start.length));
    if ([...seen].some((file) => file !== path && isPart(file)))
      throw invalid(
        `parts of ${printable(name)} would have the name of another output`,
        "Give one of them a different `file`",
      );
  }
  return plans;
}

/** The files that an output always has, including compressed ones. */
export function plannedFiles(plan: OutputPlan): OutputFile[] {
  return withPacked(plainFiles(plan), plan.packings);
}

function plainFiles(plan: OutputPlan): OutputFile[] {
  const { format, name, path, allowName, allowPath } = plan;
  const allow = format.hasAllowFile === true ? [{ name: allowName, path: allowPath }] : [];
  return [{ name, path }, ...allow];
}

function planOf(
  output: OutputConfig,
  where: string,
  list: string,
  { folder, host, plugins = NO_PLUGINS }: OutputContext,
): OutputPlan {
  const format = nameFormats.get(output.format) ?? plugins.formats.get(output.format);
  if (format === undefined)
    throw invalid(
      `${where}.format is from a plugin`,
      "Saved plans do not support plugins: use compile",
    );
  const { answers = [] } = format;
  const answer = output.answer ?? answers[0] ?? DEFAULT_OPTIONS.answer;
  if (output.answer !== undefined && !answers.includes(output.answer))
    throw invalid(
      `${where}.answer: ${output.format} does not support ${output.answer}`,
      answers.length === 0 ? "Remove it" : `It supports ${answers.join(", ")}`,
    );
  const origin = (output.origin ?? DEFAULT_OPTIONS.origin).replace(/\.$/, "").toLowerCase();
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(origin) || origin.length > LONGEST_ORIGIN)
    throw invalid(`${where}.origin is not the name of a zone`, "Example: rpz.local");
  const mailbox = output.mailbox ?? DEFAULT_OPTIONS.mailbox;
  if (!/^[\w.\\-]+\.$/.test(mailbox))
    throw invalid(
      `${where}.mailbox is not a valid SOA mailbox`,
      "Example: hostmaster.example.org.",
    );
  const values = { name: list, format: output.format };
  const file = fileNamed(output.file ?? `{slug}${format.extension}`, values);
  const allowFile =
    output.allow_file === undefined
      ? file.replace(/(\.[^./]*)?$/, ".allow$1")
      : fileNamed(output.allow_file, values);
  const name = (one: string): string =>
    host.path.isAbsolute(one) ? one : host.path.join(folder, one);
  return {
    formatName: output.format,
    format,
    options: {
      answer,
      ipv6: output.ipv6 ?? DEFAULT_OPTIONS.ipv6,
      ttl: output.ttl ?? DEFAULT_OPTIONS.ttl,
      origin,
      mailbox,
    },
    policy: output.on_loss ?? "skip",
    isSorted: output.sort === "name",
    name: name(file),
    path: host.path.resolve(host.cwd, folder, file),
    allowName: name(allowFile),
    allowPath: host.path.resolve(host.cwd, folder, allowFile),
    limits: {
      names: output.split?.max_rules ?? Infinity,
      bytes: sizeBytes(output.split?.max_bytes ?? "") ?? Infinity,
    },
    sizeLimit: {
      rules: Math.min(
        output.fit?.max_rules ?? Infinity,
        Math.floor((sizeBytes(output.fit?.ram ?? "") ?? Infinity) / format.memoryPerName),
      ),
      bytes: sizeBytes(output.fit?.max_bytes ?? "") ?? Infinity,
    },
    isByRank: output.fit?.by === "rank",
    packings: [...new Set(output.pack)],
  };
}

/** Whether a format blocks single names, so that covered names must be written too. */
export function blocksNamesAlone({ format, options }: OutputPlan): boolean {
  return format.isLossless !== true && format.lines(options).subtree === undefined;
}

function invalid(what: string, hint: string): CompilerError {
  return new CompilerError([errorOf("config-invalid", `Invalid configuration: ${what}`, { hint })]);
}
