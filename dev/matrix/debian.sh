#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Common functions, sourced by the other scripts. Downloads packages of newer Debian suites from the repository in this
# machine's /etc/apt, with separate apt lists, and unpacks them into the cache. Installs nothing.

cache=${MATRIX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/taskclock-matrix}
# The guest's architecture, and the names that Debian and QEMU have for it.
arch=${MATRIX_ARCH:-x86_64}
case $arch in
  x86_64) debian_arch=amd64 loader=ld-linux-x86-64.so.2 qemu_package=qemu-system-x86 ;;
  aarch64) debian_arch=arm64 loader=ld-linux-aarch64.so.1 qemu_package=qemu-system-arm cache+=/aarch64 ;;
  *) echo "${0##*/}: $arch: not an architecture: use x86_64 or aarch64" >&2 && exit 2 ;;
esac
suites=(sid trixie-backports trixie bookworm)

# Exits because of a usage error or a missing prerequisite. Message: WHAT: WHY: REMEDY.
die() {
  echo "${0##*/}: $1" >&2
  exit 2
}

# need [COMMAND PACKAGE]...: exits with a list of all missing packages.
need() {
  local missing=()
  while (($#)); do
    command -v "$1" >/dev/null || missing+=("$2")
    shift 2
  done
  ((${#missing[@]} == 0)) || die "missing tools: apt-get install ${missing[*]}"
}

usage() {
  awk 'NR > 4 { if (!/^#/) exit; sub("^# ?", ""); print }' "$0"
  exit "${1:-0}"
}

apt_own() {
  local program=$1
  shift
  "$program" -q=2 -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State="$apt/state" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Architecture=$debian_arch \
    -o APT::Architectures=$debian_arch -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# Updates the package lists of the suites above, once a day, from the Debian repository that this machine uses.
apt_update() {
  apt=$cache/apt
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,debs}
  [[ -z $(find "$apt/updated" -mtime -1 2>/dev/null) ]] || return 0
  need apt-get apt dpkg-deb dpkg
  local uri key=/usr/share/keyrings/debian-archive-keyring.gpg suite
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$') ||
    die 'apt: no Debian repository in /etc/apt: run this on Debian, or provide kernels and JDKs as described in --help'
  [[ -r $key ]] || die 'apt: the Debian keyring is missing: apt-get install debian-archive-keyring'
  for suite in "${suites[@]}"; do echo "deb [signed-by=$key] $uri $suite main"; done >"$apt/sources.list"
  : >>"$apt/status"
  echo "${0##*/}: updating the package lists of ${suites[*]}" >&2
  apt_own apt-get update || die "apt: cannot update the package lists of ${suites[*]}: see above"
  touch "$apt/updated"
}

# fetch DIRECTORY PACKAGE...: downloads packages without their dependencies and unpacks them into DIRECTORY.
fetch() {
  local directory=$1 package deb
  shift
  mkdir -p "$directory"
  for package; do
    (cd "$apt/debs" && apt_own apt-get download "$package") || return 1
    # Newest first. Colons in file names are escaped, so match by prefix.
    deb=$(ls -t "$apt/debs/$package"_*.deb | head -n 1)
    dpkg-deb -x "$deb" "$directory" || return 1
    echo "${0##*/}: ${deb##*/}" >&2
    rm -f "$deb"
  done
}
