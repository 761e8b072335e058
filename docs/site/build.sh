#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Builds the documentation as a site in target/site, which opens from the file system, and checks all its links. Needs
# Python 3.11 or later with venv. The first run downloads the generator into target/site-tools.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

tools=target/site-tools
if ! cmp -s docs/site/requirements.txt "$tools/requirements.txt"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check -r docs/site/requirements.txt
  cp docs/site/requirements.txt "$tools/requirements.txt"
fi
rm -rf target/site
"$tools/bin/sphinx-build" --quiet --fail-on-warning --keep-going -b html -d target/site-cache -E \
  -c docs/site . target/site
python3 docs/site/check.py target/site
echo "site: open target/site/index.html"
