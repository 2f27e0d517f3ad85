import type { Config, OutputConfig } from "../config/fields.ts";
import { sizeBytes } from "../config/size.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { LossPolicy } from "../formats/artifact-writer.ts";
import type { Room } from "../formats/file-room.ts";
import { DEFAULT_OPTIONS, type FormatOptions, type NameFormat } from "../formats/name-format.ts";
import { nameFormats } from "../formats/registry.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import type { Host } from "../host/host.ts";
import { packedName } from "./packed-files.ts";
import { type PartLimits, stemOf } from "./parted-file.ts";
import { fileNamed } from "./file-template.ts";

/** A further file, decided before anything is read. */
export interface PlannedArtifact {
  readonly formatName: string;
  readonly format: NameFormat;
  readonly options: FormatOptions;
  readonly policy: LossPolicy;
  /** Whether names are sorted. */
  readonly isSorted: boolean;
  /** As it is named to people, and where it is. */
  readonly name: string;
  readonly path: string;
  readonly allowName: string;
  readonly allowPath: string;
  readonly limits: PartLimits;
  readonly room: Room;
  readonly packings: readonly ("gzip" | "zstd")[];
}

const LONGEST_ORIGIN = 100;

/** What `outputs` means. Throws a `CompilerError` for what cannot be. */
export function artifactPlans(
  config: Pick<Config, "name" | "outputs">,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
  taken: readonly string[] = [],
  plugins: Plugins = NO_PLUGINS,
): PlannedArtifact[] {
  const plans = (config.outputs ?? []).map((output, index) => {
    const where = `outputs[${index}]`;
    const format = nameFormats.get(output.format) ?? plugins.formats.get(output.format);
    if (format === undefined)
      throw invalid(`${where}.format is of a plugin`, "A saved plan cannot be applied with it");
    return planOf(output, format, where, config.name, folder, host);
  });
  const seen = new Set(taken);
  for (const { name, path } of plans.flatMap(plannedFiles)) {
    if (seen.has(path))
      throw invalid(`outputs write ${printable(name)} twice`, "Give each a `file`");
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
        "Give one of them another `file`",
      );
  }
  return plans;
}

/** The files that an output has in any case, packed ones among them: names for people, and paths. */
export function plannedFiles(plan: PlannedArtifact): { name: string; path: string }[] {
  const plain = plainFiles(plan);
  const packed = plain.flatMap((file) =>
    plan.packings.map((packing) => ({
      name: packedName(file.name, packing),
      path: packedName(file.path, packing),
    })),
  );
  return [...plain, ...packed];
}

function plainFiles(plan: PlannedArtifact): { name: string; path: string }[] {
  const { format, name, path, allowName, allowPath } = plan;
  const allow = format.hasAllowFile === true ? [{ name: allowName, path: allowPath }] : [];
  return [{ name, path }, ...allow];
}

function planOf(
  output: OutputConfig,
  format: NameFormat,
  where: string,
  list: string,
  folder: string,
  host: Pick<Host, "cwd" | "path">,
): PlannedArtifact {
  const answer = output.answer ?? format.answers[0] ?? DEFAULT_OPTIONS.answer;
  if (output.answer !== undefined && !format.answers.includes(output.answer))
    throw invalid(
      `${where}.answer: ${output.format} cannot say ${output.answer}`,
      format.answers.length === 0 ? "Leave it out" : `It can say ${format.answers.join(", ")}`,
    );
  const origin = (output.origin ?? DEFAULT_OPTIONS.origin).replace(/\.$/, "").toLowerCase();
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(origin) || origin.length > LONGEST_ORIGIN)
    throw invalid(`${where}.origin is not the name of a zone`, "Such as rpz.local");
  const mailbox = output.mailbox ?? DEFAULT_OPTIONS.mailbox;
  if (!/^[\w.\\-]+\.$/.test(mailbox))
    throw invalid(`${where}.mailbox is not a mailbox of a zone`, "Such as hostmaster.example.org.");
  const values = { name: list, format: output.format };
  const file = fileNamed(output.file ?? `{slug}${format.extension}`, values);
  const allowFile =
    output.allow_file === undefined
      ? file.replace(/(\.[^./\\]*)?$/, ".allow$1")
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
    room: {
      rules: Math.min(
        output.fit?.max_rules ?? Infinity,
        Math.floor((sizeBytes(output.fit?.ram ?? "") ?? Infinity) / format.memoryPerName),
      ),
      bytes: sizeBytes(output.fit?.max_bytes ?? "") ?? Infinity,
    },
    packings: [...new Set(output.pack)],
  };
}

/** Whether a format blocks names alone, so that names which a parent covers must be written too. */
export function blocksNamesAlone({ format, options }: PlannedArtifact): boolean {
  return format.saysEverything !== true && format.lines(options).subtree === undefined;
}

function invalid(what: string, hint: string): CompilerError {
  return new CompilerError([errorOf("config-invalid", `Invalid configuration: ${what}`, { hint })]);
}
