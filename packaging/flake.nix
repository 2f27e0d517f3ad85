# Filled in by scripts/release.ts: the executables of a release as a Nix package.
{
  description = "Compiles DNS blocklists: many lists in, one list out, every line accounted for";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs =
    { self, nixpkgs }:
    let
      version = "@VERSION@";
      executables = {
        x86_64-linux = {
          name = "linux-x64";
          sha256 = "@SHA256 rules-compiler-linux-x64.tar.gz@";
        };
        aarch64-linux = {
          name = "linux-arm64";
          sha256 = "@SHA256 rules-compiler-linux-arm64.tar.gz@";
        };
        x86_64-darwin = {
          name = "darwin-x64";
          sha256 = "@SHA256 rules-compiler-darwin-x64.tar.gz@";
        };
        aarch64-darwin = {
          name = "darwin-arm64";
          sha256 = "@SHA256 rules-compiler-darwin-arm64.tar.gz@";
        };
      };
      packageFor =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          executable = executables.${system};
        in
        pkgs.stdenv.mkDerivation {
          pname = "rules-compiler";
          inherit version;
          src = pkgs.fetchurl {
            url = "https://github.com/rules-compiler/rules-compiler/releases/download/v${version}/rules-compiler-${executable.name}.tar.gz";
            inherit (executable) sha256;
          };
          nativeBuildInputs = pkgs.lib.optional pkgs.stdenv.isLinux pkgs.autoPatchelfHook;
          dontUnpack = true;
                    # The program is appended to the runtime; stripping would remove it.
          dontStrip = true;
          installPhase = ''
            mkdir -p $out/bin
            tar -xzf $src -C $out/bin rules-compiler
            chmod 755 $out/bin/rules-compiler
          '';
        };
    in
    {
      packages = builtins.mapAttrs (system: _: { default = packageFor system; }) executables;
    };
}
