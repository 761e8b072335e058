#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# jdks.sh [--newest] VERSION...
#
# Makes for each JDK (17, 21, 25, ...) an image of the few modules that doctor, the agent and the tests need, in the cache, as
# jre/VERSION; and two C libraries for them: libc/host, this machine's glibc, and libc/new, that of Debian sid. A JDK
# that is installed here is taken from here, others are Debian sid's, most of which need the newer glibc. An image that
# is there is kept; with --newest all are made again, from Debian sid's newest builds only. Up to a minute for each JDK; needs apt of Debian, gcc and patchelf.
# MATRIX_CACHE is the cache, ~/.cache/taskclock-matrix unless told.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
newest=
if [[ ${1:-} == --newest ]]; then newest=yes && shift; fi
(($#)) || usage 2

modules=java.base,java.instrument,java.logging,java.management,jdk.jfr,jdk.management,jdk.unsupported
loader=ld-linux-x86-64.so.2
libraries=("$loader" libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6 libz.so.1)

host_libc() {
  local library file
  rm -rf "$cache/libc/host"
  mkdir -p "$cache/libc/host"
  for library in "${libraries[@]}"; do
    file=$(gcc -print-file-name="$library")
    [[ $file == /* ]] || die "$library: gcc does not find it: apt-get install libc6-dev libstdc++6 zlib1g"
    cp -L "$file" "$cache/libc/host/"
  done
}

new_libc() {
  local unpacked=$cache/unpacked-libc library file
  [[ ! -e $cache/libc/new ]] || return 0
  apt_update
  rm -rf "$unpacked"
  fetch "$unpacked" libc6 libgcc-s1 libstdc++6 zlib1g || die "glibc: Debian's ${suites[0]} cannot be fetched: see above"
  mkdir "$unpacked/all"
  for library in "${libraries[@]}"; do
    file=$(find "$unpacked" -name "$library" ! -path '*/all/*' | head -n 1)
    [[ $file ]] || die "$library: not in the packages of Debian's ${suites[0]}: the list in ${0##*/} is to be mended"
    cp -L "$file" "$unpacked/all/"
  done
  mv "$unpacked/all" "$cache/libc/new"
  rm -rf "$unpacked"
}

# installed VERSION: the JDK of this version that is installed here, if any.
installed() {
  local home
  for home in "${JAVA_HOME:-/nonexistent}" /usr/lib/jvm/* ~/.jdks/* ~/.sdkman/candidates/java/*; do
    if [[ -x $home/bin/jlink ]] && grep -qE "^JAVA_VERSION=\"$1[.\"]" "$home/release" 2>/dev/null; then
      readlink -f "$home"
      return
    fi
  done
}

# fetched VERSION: unpacks Debian's.
fetched() {
  local unpacked=$cache/unpacked-jdk home link target
  apt_update
  rm -rf "$unpacked"
  fetch "$unpacked" "openjdk-$1-jre-headless" "openjdk-$1-jdk-headless" >&2 ||
    die "JDK $1: Debian's ${suites[0]} does not have it: install one under /usr/lib/jvm, or leave it out by -j"
  home=$unpacked/usr/lib/jvm/java-$1-openjdk-amd64
  # What the package has under /etc is read at the start.
  find "$home" -type l -lname '/etc/*' | while read -r link; do
    target=$unpacked$(readlink "$link")
    rm "$link"
    [[ ! -e $target ]] || cp -r "$target" "$link"
  done
  echo "$home"
}

# uses_new_libc PROGRAM...: has them run here with the newer glibc.
uses_new_libc() {
  local folder=$cache/libc/new
  patchelf --set-interpreter "$folder/$loader" --force-rpath --set-rpath "\$ORIGIN/../lib:$folder" "$@"
}

image() {
  local home jre=$cache/jre/$1 java=bin/java
  [[ ! $newest ]] || rm -rf "$jre"
  [[ ! -e $jre ]] || return 0
  home=$([[ $newest ]] || installed "$1")
  [[ $home ]] || home=$(fetched "$1")
  "$home/bin/java" -version >/dev/null 2>&1 || uses_new_libc "$home/bin/java" "$home/bin/jlink"
  mkdir -p "$cache/jre"
  rm -rf "$jre.part"
  "$home/bin/jlink" --add-modules $modules --strip-java-debug-attributes --no-header-files --no-man-pages \
    --output "$jre.part" ||
    die "JDK $1: jlink failed: see above"
  # The class data archive saves a second or more at each start under emulation.
  if ! "$jre.part/$java" -version >/dev/null 2>&1; then
    java=bin/java-here
    cp "$jre.part/bin/java" "$jre.part/$java"
    uses_new_libc "$jre.part/$java"
  fi
  "$jre.part/$java" -Xshare:dump >/dev/null || die "JDK $1: -Xshare:dump failed: see above"
  rm -f "$jre.part/bin/java-here"
  mv "$jre.part" "$jre"
  rm -rf "$cache/unpacked-jdk"
  echo "${0##*/}: made jre/$1 from ${home#"$cache/"}" >&2
}

need gcc gcc patchelf patchelf
for version; do [[ $version =~ ^[0-9]+$ ]] || die "$version: no version of a JDK: say 25"; done
host_libc
new_libc
for version; do image "$version"; done
