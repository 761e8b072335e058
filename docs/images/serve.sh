#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Takes the pictures of the page again (docs/images/serve-*.png), as PagePicturesTest says: it starts JVMs, one of which
# begins to misbehave after a minute, and walks through the page in Chromium. Reduces the colors with pngquant (Debian:
# apt install pngquant).
#
# Usage: serve.sh [DIRECTORY]
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
directory=$(realpath -- "${1:-$root/docs/images}")
most=80000

type pngquant >/dev/null || { echo 'serve.sh: pngquant: not installed: apt install pngquant' >&2; exit 1; }
cd "$root"
mvn -q -o verify -Pslow -Dtests.jdk17.groups=none "-Dpictures.directory=$directory" -Dit.test=PagePicturesTest \
  -pl web -am
for picture in "$directory"/serve-*.png; do
  pngquant --force --ext .png --strip --speed 1 128 "$picture"
  bytes=$(stat -c %s "$picture")
  [ "$bytes" -lt $most ] || { echo "serve.sh: $picture: $bytes bytes, of at most $most: make it smaller" >&2; exit 1; }
done
