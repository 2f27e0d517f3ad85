import { countText, printable, withoutCredentials } from "../../diagnostics/text.ts";
import { type Host, HostError } from "../../host/host.ts";
import { type Options, takes } from "../flags/options.ts";
import { timeText } from "./build-screen.ts";
import type { Reporter } from "./reporter.ts";

/** The settings that debug output begins with. */
export function settingsOf(options: Options, command: string, host: Host): Record<string, string> {
  const { configPath, inputs, cacheDir } = options;
  const hasConfig = takes(command, "config") && inputs.length === 0;
  return {
    ...(hasConfig && { configuration: printable(host.path.resolve(host.cwd, configPath)) }),
    ...(takes(command, "cache-dir") && {
      cache: cacheDir === undefined ? "off" : printable(cacheDir),
    }),
  };
}

/** A host that reports what is read, fetched and written through it, with durations. */
export function narrated(host: Host, reporter: Reporter): Host {
  async function timed<T>(
    what: string,
    work: Promise<T>,
    resultOf: (value: T) => string,
  ): Promise<T> {
    const began = performance.now();
    const say = (result: string): void =>
      reporter.debug(`${what}: ${result}, ${timeText(performance.now() - began)}`);
    try {
      const value = await work;
      say(resultOf(value));
      return value;
    } catch (error) {
      say(error instanceof HostError ? error.code : "failed");
      throw error;
    }
  }
  return {
    ...host,
    readFile: (path) =>
      timed(`read ${printable(path)}`, host.readFile(path), ({ length }) => bytes(length)),
    openFile: (path) =>
      timed(`open ${printable(path)}`, host.openFile(path), ({ size }) => bytes(size)),
    rename: (from, to) => timed(`write ${printable(to)}`, host.rename(from, to), () => "done"),
    fetch: (request) =>
      timed(
        `fetch ${printable(withoutCredentials(request.url))}`,
        host.fetch(request),
        ({ status }) => `status ${status}`,
      ),
    ...(host.exchange && {
      exchange: (one) =>
        timed(
          `ask ${printable(one.address)} port ${one.port}`,
          host.exchange!(one),
          () => "answered",
        ),
    }),
    ...(host.runProgram && {
      runProgram: (run) =>
        timed(`run ${printable(run.words[0] ?? "")}`, host.runProgram!(run), ({ exit }) =>
          exit === undefined ? "ended by a signal" : `exit ${exit}`,
        ),
    }),
  };
}

function bytes(count: number): string {
  return countText(count, "byte");
}
