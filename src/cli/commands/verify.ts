import { resolve } from "node:path";
import { decodeUtf8 } from "../../bytes/utf8.ts";
import { verifyManifest } from "../../compile/manifest.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { type Host, HostError } from "../../host/host.ts";
import { sendToOutput } from "../send-to-output.ts";
import type { Command } from "./registry.ts";

/** Whether a release is as it was made: signature, expiry, and the digest of every file. */
export const verifyCommand: Command = async (options, host, talk) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "verify needs a manifest", {
        hint: "Such as: verify rules/manifest.json --key minisign.pub",
      }),
    ]);
  const key = await keyOf(options.args.values.get("key")?.[0], host);
  const { manifest, problems } = await verifyManifest(resolve(host.cwd, path), key, host);
  if (options.isJson)
    await sendToOutput(
      `${JSON.stringify({ isGood: problems.length === 0, manifest, problems })}\n`,
      host,
    );
  if (problems.length > 0) throw new CompilerError(problems);
  const { version, expires, files } = manifest!;
  const signed = key === undefined ? "not asked for a signature" : "signed";
  talk.info(
    `${talk.style.good("good")}: ${countText(files.length, "file")} of version ${version}, ${signed}, until ${printable(expires)}`,
  );
  return Exit.Done;
};

/** A file, or the key itself. */
async function keyOf(given: string | undefined, host: Host): Promise<string | undefined> {
  if (given === undefined || /^RW[\w+/=]{54}$/.test(given)) return given;
  try {
    return decodeUtf8(await host.readFile(resolve(host.cwd, given)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([errorOf("bad-key", `Cannot read ${printable(given)}`)]);
  }
}
