#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Compares pictures of each view of the page with those of another commit, pixel by pixel, on a desktop and a phone,
# light and dark. Prints which differ; web/target/pictures/index.html shows them side by side.
#
# Usage: pictures.sh [COMMIT]    (default: HEAD, which shows what uncommitted changes do)
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../.." && pwd -P)
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
git -C "$root" archive "${1:-HEAD}" web/src/main/web | tar -x -C "$base"

cd "$root"
mvn -q -o verify -Pslow -Dtests.jdk17.groups=none "-Dpictures.base=$base/web/src/main/web" \
  -Dit.test=PictureDifferenceTest -pl web -am
cat web/target/pictures/differences.txt
