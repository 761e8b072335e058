#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# build.sh [DIRECTORY]
#
# Builds Thanos and an OpenTelemetry Collector from their Go modules for fleet.sh, into DIRECTORY (default:
# dev/integration/fleet/target). Requires Go 1.26 and takes about ten minutes. Skips what is already there.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
THANOS=v0.42.0
COLLECTOR=v0.162.0
out=${1:-$here/target}

command -v go >/dev/null || {
  echo 'build.sh: go is not installed: install Go 1.26 or later' >&2
  exit 1
}
mkdir -p "$out"
cd "$out"
out=$(pwd)
export CGO_ENABLED=0

if [[ ! -x thanos ]]; then
  # "go install" refuses modules with replacements, so the module is built in its own directory, which must be writable.
  source=$(go mod download -json "github.com/thanos-io/thanos@$THANOS" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cp -r "$source/." "$work"
  chmod -R u+w "$work"
  # Without these tags, which are those of its releases, Thanos crashes when it sends labels.
  (cd "$work" && go build -tags netgo,slicelabels \
    -ldflags "-X github.com/prometheus/common/version.Version=${THANOS#v}" -o "$out/thanos" ./cmd/thanos)
fi
if [[ ! -x otelcol/otelcol-fleet ]]; then
  GOBIN=$out go install "go.opentelemetry.io/collector/cmd/builder@$COLLECTOR"
  ./builder --config="$here/collector-builder.yaml"
fi
