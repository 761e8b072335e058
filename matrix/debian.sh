#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Sourced by the other scripts: what they share, and packages of newer Debian suites, fetched and unpacked into the
# cache by an apt that has its own lists there. Nothing is installed. Where they come from: /etc/apt of this machine.

cache=${MATRIX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/taskclock-matrix}
suites=(sid trixie-backports trixie bookworm)

# Wrong usage, or something is missing: WHAT: WHY: REMEDY.
die() {
  echo "${0##*/}: $1" >&2
  exit 2
}

# need COMMAND PACKAGE...: in pairs; what is missing is named at once.
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
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Architecture=amd64 \
    -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# Makes the lists, once a day: the suites named above of the Debian repository that this machine uses.
apt_update() {
  apt=$cache/apt
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,debs}
  [[ -z $(find "$apt/updated" -mtime -1 2>/dev/null) ]] || return 0
  need apt-get apt dpkg-deb dpkg
  local uri key=/usr/share/keyrings/debian-archive-keyring.gpg suite
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$') ||
    die 'apt: /etc/apt names no Debian repository: run this on Debian, or put kernels and JDKs where --help says'
  [[ -r $key ]] || die 'apt: no keys of Debian: apt-get install debian-archive-keyring'
  for suite in "${suites[@]}"; do echo "deb [signed-by=$key] $uri $suite main"; done >"$apt/sources.list"
  : >>"$apt/status"
  echo "${0##*/}: reading the lists of ${suites[*]}" >&2
  apt_own apt-get update || die "apt: the lists of ${suites[*]} cannot be read: see above"
  touch "$apt/updated"
}

# fetch FOLDER PACKAGE...: unpacks packages, without what they depend on, into FOLDER.
fetch() {
  local folder=$1 package deb
  shift
  mkdir -p "$folder"
  for package; do
    (cd "$apt/debs" && apt_own apt-get download "$package") || return 1
    # Newest first; the name of a file has colons escaped.
    deb=$(ls -t "$apt/debs/$package"_*.deb | head -n 1)
    dpkg-deb -x "$deb" "$folder" || return 1
    echo "${0##*/}: ${deb##*/}" >&2
    rm -f "$deb"
  done
}
