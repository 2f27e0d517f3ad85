import { unfinishedBeside } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import { type Host, HostError } from "../../host/host.ts";
import { verifyRelease } from "../../index.ts";
import { flagsOf } from "../flags/help.ts";
import { sendDocument } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Verifies a release: signature, expiry, digest of every file, name of the list, and that it is not older than the last one. */
export const verifyCommand: Command = async (options, host, reporter) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("wrong-usage", "verify needs a manifest", {
        hint: "Such as: verify rules/manifest.json --key minisign.pub",
      }),
    ]);
  const { key: wanted, name, state: given } = flagsOf("verify", options.args);
  const key = await keyOf(wanted, host);
  const place = host.path.resolve(host.cwd, path);
  const state = given === undefined ? undefined : host.path.resolve(host.cwd, given);
  for (const warning of await unfinishedBeside(place, host)) reporter.diagnostic(warning);
  const { manifest, problems } = await verifyRelease(place, { key, name, state }, host);
  if (options.json)
    await sendDocument(
      { ok: problems.length === 0, ...(manifest && { manifest }), diagnostics: problems },
      host,
    );
  if (problems.length > 0) throw new CompilerError(problems);
  const { version, expires, files } = manifest!;
  const signed = key === undefined ? "signature not checked" : "signed";
  reporter.info(
    `${reporter.style.good("good")}: ${countText(files.length, "file")} of version ${version}, ${signed}, until ${printable(expires)}`,
  );
  return Exit.Done;
};

/** Reads the key from a file, or takes the text as the key. */
async function keyOf(given: string | undefined, host: Host): Promise<string | undefined> {
  if (given === undefined || /^RW[\w+/=]{54}$/.test(given)) return given;
  try {
    return new TextDecoder().decode(await host.readFile(host.path.resolve(host.cwd, given)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([errorOf("bad-key", `Cannot read ${printable(given)}`)]);
  }
}
