#!/usr/bin/env bash
# make-bases.sh NODE: stand-ins for the two images that the Dockerfile builds on, from Debian's packages and a node binary,
# for machines that reach no image registry. The runtime one has neither shell nor tools, as the real one.
set -euo pipefail
node=$1
build=docker.io/library/node:24-trixie-slim
runtime=gcr.io/distroless/nodejs24-debian13:nonroot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

# No maintainer script is run.
mmdebstrap --quiet --variant=extract \
  --include=base-files,netbase,tzdata,ca-certificates,libc6,libstdc++6,libgcc-s1,dash,coreutils,sed,grep,tar,gzip,findutils \
  trixie "$work/all.tar"
b=$work/build r=$work/runtime
mkdir "$b"
tar -C "$b" -xf "$work/all.tar"
chmod 1777 "$b/tmp"
rm -rf "$b"/usr/share/{doc,man,locale,lintian,bug,perl5}
printf '%s\n' root:x:0:0:root:/root:/bin/sh node:x:1000:1000::/home/node:/bin/sh nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin >"$b/etc/passwd"
printf '%s\n' root:x:0: node:x:1000: nonroot:x:65532: >"$b/etc/group"
mkdir -p "$b/etc/ssl/certs" "$b/root" "$b/home/nonroot"
chown 65532:65532 "$b/home/nonroot"
cat "$b"/usr/share/ca-certificates/mozilla/*.crt >"$b/etc/ssl/certs/ca-certificates.crt"
cp -a "$b" "$r"

rm -rf "$r"/usr/{bin,sbin}/* "$r"/usr/lib/x86_64-linux-gnu/{libcrypto,libssl,perl-base,gconv,engines-3,ossl-modules}* "$r"/var/cache/*
install -Dm755 "$node" "$r/nodejs/bin/node"

install -Dm755 "$node" "$b/usr/local/bin/node"
mkdir -p "$b/usr/local/lib/node_modules" "$b/usr/local/etc"
cp -a "$npm" "$b/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$b/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$b/usr/local/bin/npx"
# This machine may reach the npm registry by way of a certificate of its own.
cp /etc/ssl/certs/ca-certificates.crt "$b/etc/ssl/certs/ca-certificates.crt"
echo cafile=/etc/ssl/certs/ca-certificates.crt >"$b/usr/local/etc/npmrc"

commit() {
  local folder=$1 name=$2
  shift 2
  local container
  container=$(buildah from scratch 2>/dev/null)
  buildah add --quiet "$container" "$folder" / >/dev/null
  buildah config "$@" "$container"
  buildah commit --quiet --format docker --rm "$container" "$name" >/dev/null
}
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
commit "$b" "$build" --cmd node --env PATH=$path
commit "$r" "$runtime" --user 65532 --workingdir /home/nonroot --env PATH=$path:/nodejs/bin \
  --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt --entrypoint '["/nodejs/bin/node"]'
