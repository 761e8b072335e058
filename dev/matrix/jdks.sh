#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# jdks.sh [--newest] VERSION...
#
# Creates an image of each JDK (17, 21, 25, ...) in the cache, as jre/VERSION, with the few modules that doctor, the
# agent, and the tests need; and two C libraries for them: libc/host, this machine's glibc, and libc/new, the one of
# Debian sid. Uses an installed JDK if there is one, otherwise that of Debian sid, which usually needs the newer glibc.
# For aarch64, the images are Debian's unchanged runtimes, and libc/new is the only C library. Keeps existing images;
# --newest recreates all of them from the newest builds in Debian sid. Takes up to a minute per JDK. Needs Debian's apt,
# gcc, and patchelf; for aarch64, qemu-user instead of the latter two. MATRIX_CACHE is the cache directory (default:
# ~/.cache/taskclock-matrix), MATRIX_ARCH the architecture: x86_64 (default) or aarch64.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
newest=
if [[ ${1:-} == --newest ]]; then newest=yes && shift; fi
(($#)) || usage 2

modules=java.base,java.instrument,java.logging,java.management,jdk.jfr,jdk.management,jdk.unsupported
libraries=("$loader" libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6 libz.so.1)

host_libc() {
  local library file
  rm -rf "$cache/libc/host"
  mkdir -p "$cache/libc/host"
  for library in "${libraries[@]}"; do
    file=$(gcc -print-file-name="$library")
    [[ $file == /* ]] || die "$library: not found by gcc: apt-get install libc6-dev libstdc++6 zlib1g"
    cp -L "$file" "$cache/libc/host/"
  done
}

new_libc() {
  local unpacked=$cache/unpacked-libc library file
  [[ ! -e $cache/libc/new ]] || return 0
  apt_update
  rm -rf "$unpacked"
  fetch "$unpacked" libc6 libgcc-s1 libstdc++6 zlib1g ||
    die "glibc: cannot download it from Debian ${suites[0]}: see above"
  mkdir "$unpacked/all"
  for library in "${libraries[@]}"; do
    file=$(find "$unpacked" -name "$library" ! -path '*/all/*' | head -n 1)
    [[ $file ]] || die "$library: not in the packages of Debian ${suites[0]}: correct the list in ${0##*/}"
    cp -L "$file" "$unpacked/all/"
  done
  mkdir -p "$cache/libc"
  mv "$unpacked/all" "$cache/libc/new"
  rm -rf "$unpacked"
}

# installed VERSION: prints the home of the installed JDK of this version, if there is one.
installed() {
  local home
  for home in "${JAVA_HOME:-/nonexistent}" /usr/lib/jvm/* ~/.jdks/* ~/.sdkman/candidates/java/*; do
    if [[ -x $home/bin/jlink ]] && grep -qE "^JAVA_VERSION=\"$1[.\"]" "$home/release" 2>/dev/null; then
      readlink -f "$home"
      return
    fi
  done
}

# fetched VERSION [jdk-headless]: downloads Debian's JRE, or JDK, and prints its home.
fetched() {
  local unpacked=$cache/unpacked-jdk home link target
  apt_update
  rm -rf "$unpacked"
  fetch "$unpacked" "openjdk-$1-jre-headless" ${2:+"openjdk-$1-$2"} >&2 ||
    die "JDK $1: not in Debian ${suites[0]}: install it in /usr/lib/jvm, or select other JDKs with -j"
  home=$unpacked/usr/lib/jvm/java-$1-openjdk-$debian_arch
  # The JVM reads the configuration that the package has under /etc at startup.
  find "$home" -type l -lname '/etc/*' | while read -r link; do
    target=$unpacked$(readlink "$link")
    rm "$link"
    [[ ! -e $target ]] || cp -r "$target" "$link"
  done
  echo "$home"
}

# uses_new_libc PROGRAM...: patches programs to run on this machine with the newer glibc.
uses_new_libc() {
  local folder=$cache/libc/new
  patchelf --set-interpreter "$folder/$loader" --force-rpath --set-rpath "\$ORIGIN/../lib:$folder" "$@"
}

image() {
  local home jre=$cache/jre/$1 java=bin/java
  [[ ! $newest ]] || rm -rf "$jre"
  [[ ! -e $jre ]] || return 0
  home=$([[ $newest ]] || installed "$1")
  [[ $home ]] || home=$(fetched "$1" jdk-headless)
  "$home/bin/java" -version >/dev/null 2>&1 || uses_new_libc "$home/bin/java" "$home/bin/jlink"
  mkdir -p "$cache/jre"
  rm -rf "$jre.part"
  "$home/bin/jlink" --add-modules $modules --strip-java-debug-attributes --no-header-files --no-man-pages \
    --output "$jre.part" ||
    die "JDK $1: jlink failed: see above"
  # Under emulation, the class data archive saves a second or more of each startup.
  if ! "$jre.part/$java" -version >/dev/null 2>&1; then
    java=bin/java-here
    cp "$jre.part/bin/java" "$jre.part/$java"
    uses_new_libc "$jre.part/$java"
  fi
  "$jre.part/$java" -Xshare:dump >/dev/null || die "JDK $1: -Xshare:dump failed: see above"
  rm -f "$jre.part/bin/java-here"
  mv "$jre.part" "$jre"
  rm -rf "$cache/unpacked-jdk"
  echo "${0##*/}: created jre/$1 from ${home#"$cache/"}" >&2
}

# Downloads a shell for the guest: this machine's cannot run there.
foreign_shell() {
  local unpacked=$cache/unpacked-shell
  [[ ! -e $cache/busybox ]] || return 0
  apt_update
  rm -rf "$unpacked"
  fetch "$unpacked" busybox-static || die "busybox: cannot download it from Debian ${suites[0]}: see above"
  mv "$unpacked/usr/bin/busybox" "$cache/busybox"
  rm -rf "$unpacked"
}

# foreign_image VERSION: creates an image for another architecture than this machine's.
foreign_image() {
  local jre=$cache/jre/$1
  [[ ! $newest ]] || rm -rf "$jre"
  [[ ! -e $jre ]] || return 0
  mkdir -p "$cache/jre"
  mv "$(fetched "$1")" "$jre.part"
  # qemu-user looks for the loader of the C library in this directory.
  mkdir -p "$cache/libc/lib"
  ln -sfn "../new/$loader" "$cache/libc/lib/$loader"
  "qemu-$arch" -L "$cache/libc" -E LD_LIBRARY_PATH="$cache/libc/new" "$jre.part/bin/java" -XX:TieredStopAtLevel=1 \
    -Xshare:dump >/dev/null || die "JDK $1: -Xshare:dump failed: see above"
  mv "$jre.part" "$jre"
  rm -rf "$cache/unpacked-jdk"
  echo "${0##*/}: created jre/$1" >&2
}

for version; do [[ $version =~ ^[0-9]+$ ]] || die "$version: not a JDK version: use a number such as 25"; done
if [[ $arch == aarch64 ]]; then
  need "qemu-$arch" qemu-user
  foreign_shell
  new_libc
  for version; do foreign_image "$version"; done
else
  need gcc gcc patchelf patchelf
  host_libc
  new_libc
  for version; do image "$version"; done
fi
