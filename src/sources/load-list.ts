import { skipBlanks } from "../bytes/blank.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { DirectiveError, type Piece, cutAtDirectives } from "../syntax/directives.ts";
import type { Stretch } from "../syntax/scan.ts";
import { decodeText } from "./decode.ts";
import { MAX_LIST_BYTES, fetchText } from "./http.ts";
import { type Location, includedPath, isAddress, isBelow } from "./location.ts";
import { fileError, shownAddress, sourceError } from "./source-error.ts";

/** A file that was read: the list itself or one that it includes. */
export interface LoadedFile {
  /** As a person would look for it. */
  readonly label: string;
  readonly bytes: Uint8Array;
}

/** Lines of one file; the pieces of a list, in order, make up its text. */
export interface LoadedPiece {
  readonly file: LoadedFile;
  readonly stretch: Stretch;
}

export interface LoadedList {
  readonly pieces: readonly LoadedPiece[];
  readonly diagnostics: readonly Diagnostic[];
  readonly bytesRead: number;
}

const MAX_DEPTH = 8;
const MAX_FILES = 4096;

/** Reads a list with everything it includes. Rejects with a `CompilerError` when any of it cannot be had. */
export async function loadList(
  location: Location,
  label: string,
  host: Host,
  signal?: AbortSignal,
): Promise<LoadedList> {
  const loader = new ListLoader(host, signal);
  await loader.load(location, label, undefined, []);
  return loader;
}

class ListLoader implements LoadedList {
  readonly pieces: LoadedPiece[] = [];
  readonly diagnostics: Diagnostic[] = [];
  bytesRead = 0;
  private files = 0;
  private readonly host: Host;
  private readonly signal: AbortSignal | undefined;

  constructor(host: Host, signal: AbortSignal | undefined) {
    this.host = host;
    this.signal = signal;
  }

  /** `root` is the folder that local includes may not leave; absent for the list itself. */
  async load(
    location: Location,
    label: string,
    root: string | undefined,
    chain: readonly string[],
  ): Promise<void> {
    if (++this.files > MAX_FILES)
      throw sourceError(
        "bad-directive",
        `${label} is one of more than ${MAX_FILES} included files`,
      );
    const isIncluded = chain.length > 0;
    const { bytes, place, folder } = await this.read(location, label, root);
    if (chain.includes(place)) throw sourceError("bad-directive", `${label} includes itself`);
    if (chain.length > MAX_DEPTH)
      throw sourceError(
        "bad-directive",
        `${label} is included through more than ${MAX_DEPTH} files`,
      );
    if (!isIncluded && skipBlanks(bytes, 0, bytes.length) === bytes.length)
      this.diagnostics.push(warningOf("source-empty", `${printable(label)} is empty`));
    const file: LoadedFile = { label, bytes };
    for (const piece of this.cut(file, isIncluded)) {
      this.pieces.push({ file, stretch: piece });
      if (piece.include !== undefined)
        await this.include(piece, file, { place, folder, isWeb: location.kind === "web" }, [
          ...chain,
          place,
        ]);
    }
  }

  private cut(file: LoadedFile, isIncluded: boolean): Piece[] {
    try {
      return cutAtDirectives(file.bytes, isIncluded);
    } catch (error) {
      if (!(error instanceof DirectiveError)) throw error;
      throw sourceError("bad-directive", printable(error.message), undefined, {
        file: file.label,
        line: error.line,
      });
    }
  }

  private async read(location: Location, label: string, root: string | undefined) {
    if (location.kind === "web") {
      const { bytes, url, isRepaired } = await fetchText(location.url, this.host, this.signal);
      this.took(bytes, label, isRepaired);
      return { bytes, place: url, folder: root ?? new URL(url).origin };
    }
    const path = await this.realPath(location.path, label);
    const folder = root ?? path.slice(0, path.lastIndexOf("/") + 1);
    if (root !== undefined && !isBelow(path, root))
      throw sourceError(
        "bad-directive",
        `${printable(label)} lies outside the folder of the list`,
        "an included file must stand beside the list or below it",
      );
    const raw = await this.readFile(path, label);
    const { bytes, isRepaired } = decodeText(raw, printable(label), {}, MAX_LIST_BYTES);
    this.took(bytes, label, isRepaired);
    return { bytes, place: path, folder };
  }

  private took(bytes: Uint8Array, label: string, isRepaired: boolean): void {
    this.bytesRead += bytes.length;
    if (!isRepaired) return;
    this.diagnostics.push(
      warningOf(
        "bad-encoding",
        `${printable(label)} is not UTF-8; the bytes that are not were replaced by U+FFFD`,
      ),
    );
  }

  private async realPath(path: string, label: string): Promise<string> {
    try {
      return await this.host.realPath(path);
    } catch (error) {
      throw error instanceof HostError ? fileError(label, error) : error;
    }
  }

  private async readFile(path: string, label: string): Promise<Uint8Array> {
    try {
      return await this.host.readFile(path);
    } catch (error) {
      throw error instanceof HostError ? fileError(label, error) : error;
    }
  }

  private async include(
    piece: Piece,
    file: LoadedFile,
    from: { place: string; folder: string; isWeb: boolean },
    chain: readonly string[],
  ): Promise<void> {
    const argument = piece.include!;
    const at = { file: file.label, line: piece.firstLine };
    try {
      if (argument === "") throw sourceError("bad-directive", "!#include names no file");
      if (from.isWeb) {
        const url = URL.canParse(argument, from.place) ? new URL(argument, from.place) : undefined;
        if (url === undefined || url.origin !== from.folder)
          throw sourceError(
            "bad-directive",
            `!#include leaves the list's own server: ${shownAddress(argument)}`,
          );
        await this.load({ kind: "web", url: url.href }, shownAddress(url.href), from.folder, chain);
      } else {
        if (isAddress(argument))
          throw sourceError(
            "bad-directive",
            `A local list cannot include an address: ${shownAddress(argument)}`,
          );
        const path = includedPath(from.place, argument);
        await this.load({ kind: "file", path }, path, from.folder, chain);
      }
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      // The outermost line is where a person starts to look; inner ones are in the message.
      throw new CompilerError(error.diagnostics.map((one) => ({ ...one, at: one.at ?? at })));
    }
  }
}
