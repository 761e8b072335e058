#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# kernels.sh VERSION...
#
# Fetches Debian's cloud kernels of such versions (6.1, 6.12, 7.0, ...) into the cache, as kernels/vmlinuz-VERSION. A
# file that is there is kept, so a kernel of your own can be put there. Some 10 s for each kernel; needs apt of Debian.
# MATRIX_CACHE is the cache, ~/.cache/taskclock-matrix unless told.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
(($#)) || usage 2

# Newest first. From some version on the kernel is in a package "binary", and "image" is what depends on it.
packages_of() {
  apt_own apt-cache pkgnames linux- | grep -E "^linux-(binary|image)-${1//./\\.}[.+-].*cloud-amd64\$" |
    sed -E 's/^(linux-[a-z]+-)(.*)/\2 \1/' | sort -k 1,1rV -k 2,2 | sed -E 's/(.*) (.*)/\2\1/'
}

for version; do
  [[ $version =~ ^[0-9]+\.[0-9]+$ ]] || die "$version: no version of a kernel: say 6.12"
  file=$cache/kernels/vmlinuz-$version
  if [[ -s $file ]]; then continue; fi
  apt_update
  mkdir -p "$cache/kernels"
  unpacked=$cache/unpacked-kernel
  for package in $(packages_of "$version"); do
    rm -rf "$unpacked"
    fetch "$unpacked" "$package" || continue
    found=$(find "$unpacked" -name 'vmlinuz*' -type f | head -n 1)
    if [[ $found ]]; then
      mv "$found" "$file"
      break
    fi
  done
  rm -rf "$unpacked"
  [[ -s $file ]] || die "kernel $version: Debian's ${suites[*]} do not have it: put one at $file, or leave it out by -k"
done
