import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { DESCRIPTION, HOMEPAGE, PACKAGE_TIME, inFolder, run } from "./release.ts";
import type { Release } from "./release.ts";

/** The names of processors: of the target, in Debian, in RPM. */
const PROCESSORS = [
  ["linux-x64", "amd64", "x86_64"],
  ["linux-arm64", "arm64", "aarch64"],
] as const;

/** Completion scripts by shell, where each shell looks for them. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/rules-compiler",
  zsh: "usr/share/zsh/vendor-completions/_rules-compiler",
  fish: "usr/share/fish/vendor_completions.d/rules-compiler.fish",
};

/** `.deb` and `.rpm`: the program, its manual page, completions and the systemd units, which nobody starts unasked. */
export function writeLinuxPackages(release: Release): void {
  for (const [target, debian, rpm] of PROCESSORS) {
    const executable = release.executables.get(target);
    if (executable === undefined) continue;
    inFolder((made) => {
      const tree = join(made, "tree");
      fillTree(release, executable, tree);
      writeRpm(release, tree, rpm);
      writeDeb(release, tree, debian);
    });
  }
}

function fillTree({ root }: Release, executable: string, tree: string): void {
  const place = (path: string, bytes: string | Uint8Array): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(tree, path), bytes);
  };
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  copyFileSync(executable, join(tree, "usr/bin/rules-compiler"));
  chmodSync(join(tree, "usr/bin/rules-compiler"), 0o755);
  const page = gzipSync(readFileSync(join(root, "docs/rules-compiler.1")), { level: 9 });
  place("usr/share/man/man1/rules-compiler.1.gz", page);
  place("usr/share/doc/rules-compiler/copyright", readFileSync(join(root, "LICENSE")));
  for (const unit of readdirSync(join(root, "deploy/systemd")))
    place(`usr/lib/systemd/system/${unit}`, readFileSync(join(root, "deploy/systemd", unit)));
  for (const [shell, path] of Object.entries(COMPLETIONS))
    place(path, run(process.execPath, [join(root, "src/cli/bin.ts"), "completions", shell]));
  run("find", [tree, "-exec", "touch", "-h", "-d", PACKAGE_TIME, "{}", "+"]);
}

function writeDeb({ folder, version }: Release, tree: string, processor: string): void {
  const bytes = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  mkdirSync(join(tree, "DEBIAN"), { mode: 0o755 });
  writeFileSync(
    join(tree, "DEBIAN/control"),
    [
      "Package: rules-compiler",
      `Version: ${version}`,
      `Architecture: ${processor}`,
      "Maintainer: rules-compiler maintainers <maintainers@rules-compiler.invalid>",
      `Installed-Size: ${Math.ceil(bytes / 1024)}`,
      "Depends: libc6 (>= 2.17)",
      "Recommends: ca-certificates",
      "Section: net",
      "Priority: optional",
      `Homepage: ${HOMEPAGE}`,
      `Description: ${DESCRIPTION}`,
      "",
    ].join("\n"),
  );
  run("dpkg-deb", [
    "--root-owner-group",
    "-Zzstd",
    "--build",
    tree,
    join(folder, `rules-compiler_${version}_${processor}.deb`),
  ]);
}

function writeRpm({ folder, version }: Release, tree: string, processor: string): void {
  inFolder((made) => {
    const files = run("find", [tree, "-type", "f", "-printf", "/%P\\n"]);
    writeFileSync(
      join(made, "rules-compiler.spec"),
      `Name: rules-compiler
Version: ${version}
Release: 1
Summary: ${DESCRIPTION}
License: MIT
URL: ${HOMEPAGE}
AutoReqProv: no
Requires: glibc
%description
${DESCRIPTION}
%install
cp -a ${tree}/. %{buildroot}/
%files
${files}`,
    );
    run("rpmbuild", [
      "-bb",
      "--quiet",
      "--target",
      `${processor}-linux`,
      ...definitions({
        _topdir: made,
        _rpmdir: made,
        _build_id_links: "none",
        __strip: "/bin/true",
        debug_package: "%{nil}",
        __os_install_post: "%{nil}",
        _buildhost: "rules-compiler",
        use_source_date_epoch_as_buildtime: "1",
        _binary_payload: "w6.zstdio",
      }),
      join(made, "rules-compiler.spec"),
    ]);
    const name = `rules-compiler-${version}-1.${processor}.rpm`;
    copyFileSync(join(made, processor, name), join(folder, name));
  });
}

function definitions(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
}
