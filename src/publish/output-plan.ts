import type { Config, OutputConfig } from "../config/lists.ts";
import { OUTPUT_FIELDS, SIZE_PRESETS, answerOf } from "../config/outputs.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, sizeBytes, someOf } from "../diagnostics/text.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import type { SizeLimit } from "../formats/fit-rules.ts";
import type { LossPolicy } from "../formats/format-writer.ts";
import { nameFormats } from "../formats/formats.ts";
import { DEFAULT_OPTIONS, type FormatOptions, type NameFormat } from "../formats/name-format.ts";
import type { Host } from "../host/host.ts";
import type { Answer } from "../meaning/answer.ts";
import { type OutputFile, checkTemplate, fileNamed } from "./list-file.ts";
import { withPacked } from "./manifest.ts";
import { type SplitLimits, stemOf } from "./split-file.ts";

/** What an output will be, decided before anything is read. */
export interface OutputPlan {
  /** The name of the list. */
  readonly list: string;
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
  /** Whether names stay in their part. */
  readonly isStable: boolean;
  /** The maximum number of parts. */
  readonly mostFiles: number;
  /** The service or device that the limits are for. */
  readonly service?: string;
  readonly sizeLimit: SizeLimit;
  readonly packings: readonly ("gzip" | "zstd")[];
  /** The primary that scripts of differences are for. */
  readonly updates?: string | undefined;
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

/** The script of differences beside a zone. */
export function updatesFile(path: string): string {
  return `${path}.nsupdate`;
}

/** The files that an output always has, including compressed ones. */
export function plannedFiles(plan: OutputPlan): OutputFile[] {
  return withPacked(plainFiles(plan), plan.packings);
}

function plainFiles(plan: OutputPlan): OutputFile[] {
  const { format, name, path, allowName, allowPath } = plan;
  const allow = format.hasAllowFile === true ? [{ name: allowName, path: allowPath }] : [];
  const updates =
    plan.updates === undefined ? [] : [{ name: updatesFile(name), path: updatesFile(path) }];
  const lua = format.isDatabase === true ? [{ name: luaName(name), path: luaName(path) }] : [];
  return [{ name, path }, ...allow, ...updates, ...lua];
}

function planOf(
  output: OutputConfig,
  where: string,
  list: string,
  context: OutputContext,
): OutputPlan {
  const { folder, host, plugins = NO_PLUGINS } = context;
  const format = nameFormats.get(output.format) ?? plugins.formats.get(output.format);
  if (format === undefined)
    throw invalid(
      `${where}.format is from a plugin`,
      "Saved plans do not support plugins: use compile",
    );
  const answer = answerFor(output, where, format);
  const origin = (output.origin ?? DEFAULT_OPTIONS.origin).replace(/\.$/, "").toLowerCase();
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(origin) || origin.length > LONGEST_ORIGIN)
    throw invalid(`${where}.origin is not the name of a zone`, "Example: rpz.local");
  if (output.updates !== undefined) checkUpdates(output, where);
  if (format.isDatabase === true && (output.split ?? output.fit?.max_bytes) !== undefined)
    throw invalid(
      `${where}: ${output.format} cannot be split or limited in bytes`,
      "Limit it with `fit.max_rules` or `fit.ram`",
    );
  const values = { name: list, format: output.format };
  checkTemplate(output.file, ["{name}", "{slug}", "{format}"], `${where}.file`);
  const file = fileNamed(output.file ?? `{slug}${format.extension}`, values);
  const allowFile = file.replace(/(\.[^./]*)?$/, ".allow$1");
  const name = (one: string): string =>
    host.path.isAbsolute(one) ? one : host.path.join(folder, one);
  return {
    list,
    formatName: output.format,
    format,
    options: {
      answer,
      hasBothAddresses: output.answer === "null",
      ttl: output.ttl ?? DEFAULT_OPTIONS.ttl,
      origin,
      ...devicesOf(output),
    },
    policy: output.on_loss ?? "skip",
    isSorted: output.sort === "name",
    name: name(file),
    path: host.path.resolve(host.cwd, folder, file),
    allowName: name(allowFile),
    allowPath: host.path.resolve(host.cwd, folder, allowFile),
    ...partsOf(output, where, format),
    sizeLimit: {
      rules: Math.min(
        output.fit?.max_rules ?? Infinity,
        Math.floor((sizeBytes(output.fit?.ram ?? "") ?? Infinity) / format.memoryPerName),
      ),
      bytes: sizeBytes(output.fit?.max_bytes ?? "") ?? Infinity,
    },
    packings: [...new Set(output.pack)],
    updates: output.updates,
  };
}

/** What a resolver answers for the names of an output. */
function answerFor(
  { format, answer: config }: OutputConfig,
  where: string,
  { answers = [] }: NameFormat,
): Answer {
  // The first of a format is never an address or a name.
  const answer = answerOf(config ?? (answers[0] as "null" | undefined) ?? "nxdomain")!;
  if (config === undefined) return answer;
  if (answers.includes(answer.kind)) return answer;
  const others = [...nameFormats].flatMap(([name, one]) =>
    one.answers?.includes(answer.kind) === true ? [name] : [],
  );
  throw invalid(
    `${where}.answer: ${format} has no ${answer.kind}`,
    `${answers.length === 0 ? "The resolver decides; remove it" : `It has ${answers.join(", ")}`}. Formats with ${answer.kind}: ${someOf(others)}`,
  );
}

function devicesOf({ clients = [], tags = [] }: OutputConfig): Pick<FormatOptions, "devices"> {
  return clients.length + tags.length === 0 ? {} : { devices: { clients, tags } };
}

/** The limits of the parts of an output. */
function partsOf(
  { format: formatName, split = {} }: OutputConfig,
  where: string,
  format: NameFormat,
): Pick<OutputPlan, "limits" | "isStable" | "mostFiles" | "service"> {
  const preset = split.for === undefined ? undefined : SIZE_PRESETS[split.for];
  const service = split.for && OUTPUT_FIELDS.split.fields.for.values[split.for];
  if (preset !== undefined && preset.format !== formatName)
    throw invalid(
      `${where}.split.for: lists for ${service} have the format ${preset.format}`,
      `Use \`format: ${preset.format}\``,
    );
  const limits = {
    names: split.max_rules ?? preset?.names ?? Infinity,
    bytes: sizeBytes(split.max_bytes ?? preset?.size ?? "") ?? Infinity,
  };
  const mostFiles = preset?.files ?? Infinity;
  const isStable = split.stable ?? (preset !== undefined && mostFiles > 1);
  if (isStable && !isFreeOrder(format))
    throw invalid(
      `${where}.split.stable: the lines of ${formatName} depend on their order`,
      "Remove it, or use another format",
    );
  return { limits, isStable, mostFiles, ...(service && { service }) };
}

/** Whether the lines of a format can be in any order and in any part. */
function isFreeOrder({ hidesParents, isCommaFirst, exactOpening, footer }: NameFormat): boolean {
  return hidesParents !== true && isCommaFirst !== true && (exactOpening ?? footer) === undefined;
}

function checkUpdates({ format, updates = "", split }: OutputConfig, where: string): void {
  if (format !== "rpz")
    throw invalid(`${where}.updates is for zones`, "Remove it, or use the format rpz");
  if (!/^[a-z0-9.:-]{1,253}(?:#\d{1,5})?$/i.test(updates))
    throw invalid(`${where}.updates is not an address`, "Examples: 127.0.0.1, 192.0.2.1#5353");
  if (split !== undefined)
    throw invalid(`${where}.updates needs a single zone`, "Remove `split`, or remove `updates`");
}

/** Whether a format blocks single names, so that covered names must be written too. */
export function blocksNamesAlone({ format, options }: OutputPlan): boolean {
  return format.isLossless !== true && format.lines(options).subtree === undefined;
}

function invalid(what: string, hint: string): CompilerError {
  return new CompilerError([errorOf("config-invalid", `Invalid configuration: ${what}`, { hint })]);
}

/** The name of the Lua file of a database. */
export function luaName(path: string): string {
  return `${path}.lua`;
}
