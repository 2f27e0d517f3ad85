import { decodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";

const FILE_VARIABLE = "DNSAPI_DnsApi__ApiKey_FILE";
const KEY_VARIABLES = ["DNSAPI_DnsApi__ApiKey", "DNSAPI_API_KEY"] as const;

/** An API key that cannot be printed by accident. */
export class ApiKey {
  readonly #key: string;

  /** Throws a `CompilerError` that does not repeat the key. */
  constructor(key: string, from: string) {
    if (!/^[\x21-\x7e]{1,512}$/.test(key))
      throw keyError(`${from} does not contain a valid key: up to 512 visible ASCII characters`);
    this.#key = key;
  }

  /** The value of the `Authorization` header. */
  get authorization(): string {
    return `ApiKey ${this.#key}`;
  }

  /** Replaces the key in a text. */
  redact(text: string): string {
    return text.replaceAll(this.#key, "(key)");
  }

  toString(): string {
    return "(key)";
  }

  toJSON(): string {
    return "(key)";
  }
}

/** The key from the environment: the file first, then the variables in order. Rejects with a `CompilerError`. */
export async function loadApiKey(host: Host): Promise<ApiKey> {
  const file = host.env[FILE_VARIABLE];
  if (file !== undefined && file !== "") {
    try {
      const text = decodeUtf8(await host.readFile(host.path.resolve(host.cwd, file)));
      return new ApiKey(text.replace(/\r?\n$/, ""), `The file of ${FILE_VARIABLE}`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw keyError(`${FILE_VARIABLE} names a file that cannot be read`, {
        at: { file: printable(file) },
        cause: reasonOf(error.code, error.message),
      });
    }
  }
  for (const name of KEY_VARIABLES) {
    const key = host.env[name];
    if (key !== undefined && key !== "") return new ApiKey(key.replace(/\r?\n$/, ""), name);
  }
  throw keyError("No key for the DNS API is configured");
}

function keyError(message: string, more: Parameters<typeof errorOf>[2] = {}): CompilerError {
  return new CompilerError([errorOf("api-key-missing", message, more)]);
}
