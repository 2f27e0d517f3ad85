import { type Host, memoryHost } from "./internals.ts";
import { MemoryProject } from "./memory-project.ts";
import { withoutCodes } from "./screen.ts";

/** A project whose screens are terminals of 80 columns. */
export function terminalProject(
  files: Readonly<Record<string, string>>,
  changes: Partial<Host> = {},
): MemoryProject {
  const host = memoryHost({ isTerminal: true });
  // As memory has it, but for what is written to.
  const project: MemoryProject = new MemoryProject(files, {
    ...changes,
    stdout: {
      ...host.stdout,
      write: (text) => void (project.memory.output.stdout += text),
      send: async (data) => {
        const text = typeof data === "string" ? data : new TextDecoder().decode(data);
        project.memory.output.stdout += text;
      },
    },
    stderr: {
      ...host.stderr,
      write: (text) => void (project.memory.output.stderr += text),
    },
  });
  return project;
}

/** What is left when everything that was drawn over is gone. */
export function lastScreen(text: string): string {
  return withoutCodes(text.replaceAll(/^[^]*\u001b\[J/g, ""));
}
