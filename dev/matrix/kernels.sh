#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# kernels.sh VERSION...
#
# Downloads Debian's cloud kernels of these versions (6.1, 6.12, 7.0, ...) into the cache, as kernels/vmlinuz-VERSION.
# Keeps existing files, so you can put your own kernel there. Takes about 10 s per kernel; needs Debian's apt.
# MATRIX_CACHE is the cache directory (default: ~/.cache/taskclock-matrix), MATRIX_ARCH the architecture: x86_64
# (default) or aarch64, whose files are in the directory aarch64 of the cache. There, 7.3-16k is a kernel with pages
# of 16 KB.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
(($#)) || usage 2

# Prints the packages, newest first. In recent versions, package "binary" contains the kernel, and "image" depends on
# it.
packages_of() {
  local version=${1%-16k} flavour=cloud-$debian_arch
  [[ $1 == "$version" ]] || flavour=$debian_arch-16k
  apt_own apt-cache pkgnames linux- | grep -E "^linux-(binary|image)-${version//./\\.}[.+-].*-$flavour\$" |
    sed -E 's/^(linux-[a-z]+-)(.*)/\2 \1/' | sort -k 1,1rV -k 2,2 | sed -E 's/(.*) (.*)/\2\1/'
}

for version; do
  [[ $version =~ ^[0-9]+\.[0-9]+(-16k)?$ ]] || die "$version: not a kernel version: use one such as 6.12"
  file=$cache/kernels/vmlinuz-$version
  if [[ -s $file ]]; then continue; fi
  apt_update
  mkdir -p "$cache/kernels"
  unpacked=$cache/unpacked-kernel
  for package in $(packages_of "$version"); do
    rm -rf "$unpacked"
    fetch "$unpacked" "$package" || continue
    found=$(find "$unpacked" -name 'vmlinu[xz]*' -type f | head -n 1)
    if [[ $found ]]; then
      mv "$found" "$file"
      break
    fi
  done
  rm -rf "$unpacked"
  [[ -s $file ]] ||
    die "kernel $version: not in Debian ${suites[*]}: put one at $file, or select other kernels with -k"
done
