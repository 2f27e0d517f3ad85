# shellcheck shell=bash
# Debian 12 has no dnscrypt-proxy: unpacks the package of the next release, which runs there too. Prints the path of the binary.
dnscrypt_proxy() {
  local folder=$HOME/.cache/rules-compiler-dnscrypt
  if [ ! -x "$folder/root/usr/sbin/dnscrypt-proxy" ]; then
    mkdir -p "$folder"/{lists/partial,archives/partial}
    local mirror
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1)
    echo "deb [trusted=yes] $mirror trixie main" > "$folder/sources.list"
    local options=(-o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder")
    apt-get "${options[@]}" update -qq >&2
    (cd "$folder" && apt-get "${options[@]}" download -qq dnscrypt-proxy >&2 && dpkg -x dnscrypt-proxy_*.deb root)
  fi
  echo "$folder/root/usr/sbin/dnscrypt-proxy"
}
