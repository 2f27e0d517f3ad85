#!/usr/bin/env bash
# image-test.sh NODE: builds the project's Dockerfile and runs the image as an operator should, hardened; prints one JSON object.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
node=$1
work=$(mktemp -d)
# shellcheck source=test/support/container/podman-env.sh
source "$here/podman-env.sh"
podman_env "$work/store"
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }; }
finish() {
  podman rm -f -t 2 rules-test once-test >/dev/null 2>&1 || true
  umount "$work/store/storage/overlay" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

quiet bash "$here/make-bases.sh" "$node"
# Stand-ins for the bases, which have digests of their own.
quiet buildah bud --pull-never --format docker \
  --build-arg BUILD_IMAGE=docker.io/library/node:24-trixie-slim \
  --build-arg RUN_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot -f "$root/Dockerfile" -t localhost/rules-compiler:test "$root"
size=$(podman image inspect localhost/rules-compiler:test --format '{{.Size}}')

mkdir -p "$work/config" "$work/rules" "$work/cache"
chown 65532:65532 "$work/rules" "$work/cache"
printf '||a.example^\n||b.example^\n' >"$work/config/a.txt"
printf '{"name":"My list","sources":[{"name":"a","source":"a.txt","type":"adblock"}]}' >"$work/config/compiler-config.yaml"
echo container-key-5512 >"$work/key"
chmod 444 "$work/key"
port=$((20000 + RANDOM % 20000))
hard=(--network host --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges --memory 512m --pids-limit 64
  -v "$work/config:/config:ro" -v "$work/rules:/rules" -v "$work/cache:/cache" -v "$work/key:/run/secrets/dns_api_key:ro"
  -e DNSAPI_DnsApi__ApiKey_FILE=/run/secrets/dns_api_key -e PORT="$port")

# podman's own timer needs systemd; the check is run by hand.
quiet podman run -d --name rules-test --health-interval=disable "${hard[@]}" localhost/rules-compiler:test \
  serve --schedule '* * * * * *'
ask() { curl -fsS --max-time 5 "http://127.0.0.1:$port$1"; }
for _ in $(seq 100); do
  if ask /metrics 2>/dev/null | grep -q 'runs_total{outcome="unchanged"} [2-9]'; then break; fi
  sleep 0.1
done
health=$(ask /health)
metrics=$(ask /metrics | grep -c '^rules_compiler_')
list=$(ask /rules/my-list.txt | grep -c '^||')
quiet podman healthcheck run rules-test && healthcheck=0 || healthcheck=$?
inside() { podman exec rules-test /nodejs/bin/node -e "$1"; }
uid=$(inside 'console.log(process.getuid())')
writes=$(inside 'for (const folder of ["/", "/app", "/config", "/rules", "/cache", "/tmp"]) { let state = "writable"; try { fs.writeFileSync(folder + "/probe", ""); fs.unlinkSync(folder + "/probe"); } catch (error) { state = error.code; } console.log(folder + "=" + state); }' | tr '\n' ' ')
secret=$(inside 'console.log(fs.readFileSync(process.env.DNSAPI_DnsApi__ApiKey_FILE, "utf8").length)')
shells=$(inside 'console.log(["/bin/sh", "/usr/bin/sh", "/bin/bash", "/usr/bin/env"].filter((path) => fs.existsSync(path)).length)')
sbom=$(inside 'console.log(JSON.parse(fs.readFileSync("/app/sbom.cdx.json", "utf8")).components.length)')

began=$(date +%s%N)
podman stop -t 10 rules-test >/dev/null 2>&1
stopped=$((($(date +%s%N) - began) / 1000000))
exit=$(podman inspect rules-test --format '{{.State.ExitCode}}')
podman logs rules-test >"$work/serve.log" 2>&1
runs=$(grep -c '"trigger":"schedule"' "$work/serve.log")
leaks=$(grep -c container-key-5512 "$work/serve.log" || true)

# The same image compiles once and ends.
podman run --name once-test "${hard[@]}" localhost/rules-compiler:test compile --json >"$work/once.json" 2>/dev/null && once=$? || once=$?
# A newcomer with nothing but the pages: the package on an empty machine with Node, the executable on one without, the image.
newcomer=$work/newcomer
"$node" "$here/newcomer-steps.ts" "$root/docs" "$newcomer"
(cd "$root" && quiet npm pack --silent --pack-destination "$newcomer" && mv "$newcomer"/rules-compiler-*.tgz "$newcomer/rules-compiler.tgz")
quiet "$node" "$root/scripts/executables.ts" "$newcomer" linux-x64
mv "$newcomer/rules-compiler-linux-x64" "$newcomer/rules-compiler"
tar -C "$newcomer" -czf "$newcomer/rules-compiler-linux-x64.tar.gz" rules-compiler
machine=$(buildah from --pull-never docker.io/library/node:24-trixie-slim)
took() {
  local from
  from=$(date +%s%N)
  quiet "$@"
  echo $((($(date +%s%N) - from) / 1000000))
}
byPackage=$(took buildah run --isolation chroot -v "$newcomer:/newcomer" "$machine" -- sh /newcomer/package/steps.sh)
buildah run --isolation chroot "$machine" -- rm -rf /usr/local/bin/node /usr/local/lib/node_modules
byExecutable=$(took buildah run --isolation chroot -v "$newcomer:/newcomer" "$machine" -- sh /newcomer/executable/steps.sh)
cp "$newcomer"/package/{compiler-config.yaml,own-rules.txt} "$newcomer/image"
byImage=$(took bash "$newcomer/image/steps.sh")
newcomers=$(cat "$newcomer"/{package,executable,image}/rules/my-list.txt | grep -c '^||ads.example.com^$')
buildah rm "$machine" >/dev/null

jq -n --argjson size "$size" --argjson health "$health" --argjson metrics "$metrics" --argjson list "$list" \
  --argjson healthcheck "$healthcheck" --argjson uid "$uid" --arg writes "$writes" --argjson secret "$secret" \
  --argjson shells "$shells" --argjson sbom "$sbom" --argjson stopped "$stopped" --argjson exit "$exit" \
  --argjson runs "$runs" --argjson leaks "$leaks" --argjson once "$once" --argjson byPackage "$byPackage" --argjson byExecutable "$byExecutable" --argjson byImage "$byImage" --argjson newcomers "$newcomers" --slurpfile report "$work/once.json" \
  '{$size, health: $health.status, $metrics, $list, $healthcheck, $uid, $writes, $secret, $shells, $sbom, $stopped, $exit, $runs, $leaks, $once, $byPackage, $byExecutable, $byImage, $newcomers, rules: $report[0].lists[0].rules}'
