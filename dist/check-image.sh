#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Checks an image in a file, as "docker save" and Jib write it, without a container engine: digests of the layers, and
# owners, modes, and times of the files that TaskClock adds. With DIRECTORY, also unpacks all layers there.
# Usage: dist/check-image.sh IMAGE.tar BASE-LAYERS [DIRECTORY]
set -euo pipefail

die() {
  echo "check-image: $1" >&2
  exit 1
}

(($# == 2 || $# == 3)) || die 'usage: dist/check-image.sh IMAGE.tar BASE-LAYERS [DIRECTORY]'
command -v jq >/dev/null || die 'jq: not in PATH: apt-get install jq'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xf "$1" -C "$work"
config=$work/$(jq -r '.[0].Config' "$work/manifest.json")
mapfile -t layers < <(jq -r '.[0].Layers[]' "$work/manifest.json")
mapfile -t digests < <(jq -r '.rootfs.diff_ids[]' "$config")
((${#layers[@]} == ${#digests[@]})) || die "${#layers[@]} layers, but ${#digests[@]} digests"
((${#layers[@]} > $2)) || die "${#layers[@]} layers, of which $2 are the base: nothing was added"

jq -r '"image: \(.architecture), entrypoint \(.config.Entrypoint), created \(.created)"' "$config"
[[ $(jq -c '.config.Entrypoint' "$config") == '["/usr/bin/taskclock"]' ]] || die 'another entrypoint'

added=()
for i in "${!layers[@]}"; do
  layer=$work/${layers[i]}
  # Layers are compressed, or, in some base images, not.
  if gzip -t "$layer" 2>/dev/null; then gzip -dc "$layer" >"$work/layer.tar"; else cp "$layer" "$work/layer.tar"; fi
  digest=sha256:$(sha256sum <"$work/layer.tar" | cut -d' ' -f1)
  [[ $digest == "${digests[i]}" ]] || die "layer $i has the digest $digest, but the image says ${digests[i]}"
  echo "layer $i: ${digest:0:19}, $(stat -c %s "$layer") bytes, $(tar --warning=no-unknown-keyword -tf "$work/layer.tar" | wc -l) entries"
  if ((i >= $2)); then
    # Mode, owner, and name of what is not a directory.
    while read -r mode owner _ date time name; do
      [[ $mode == d* ]] && continue
      echo "  $mode $owner $name"
      [[ $owner == 0/0 ]] || die "$name belongs to $owner"
      [[ $mode == -rwxr-xr-x || $mode == -rw-r--r-- ]] || die "$name has the mode $mode"
      [[ "$date $time" == '1970-01-01 00:00' ]] || die "$name has the time of the build: $date $time"
      added+=("$name")
    done < <(TZ=UTC tar --warning=no-unknown-keyword --numeric-owner -tvf "$work/layer.tar")
  fi
  if (($# == 3)); then
    mkdir -p "$3"
    tar --warning=no-unknown-keyword -xf "$work/layer.tar" -C "$3"
  fi
done
# Jib always writes the first two.
mapfile -t sorted < <(printf '%s\n' "${added[@]}" | sort)
expected='app/jib-classpath-file app/jib-main-class-file usr/bin/taskclock usr/share/doc/taskclock/copyright'
[[ "${sorted[*]}" == "$expected usr/share/taskclock/taskclock-cli.jar" ]] || die "other files: ${sorted[*]}"
echo "check-image: $((${#layers[@]} - $2)) layers added, ${#added[@]} files"
