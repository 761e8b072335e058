#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# build.sh [DIRECTORY]
#
# Builds Thanos, Alertmanager, and an OpenTelemetry Collector from their Go modules for fleet.sh and hosts.sh, into
# DIRECTORY (default: dev/integration/fleet/target). Requires Go 1.26 and takes about ten minutes. Skips what is
# already there.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
THANOS=v0.42.0
ALERTMANAGER=v0.35.0
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build NAME MODULE VERSION [OPTION]...: builds a program in a copy of its module, because "go install" refuses modules
# with replacements, and the module cache is read-only.
build() {
  local name=$1 module=$2 version=$3 source
  shift 3
  [[ ! -x $name ]] || return 0
  source=$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  cp -r "$source" "$work/$name"
  chmod -R u+w "$work/$name"
  # The module of Alertmanager lacks its pages, which npm builds. Its API works with empty ones.
  if [[ $name == alertmanager ]]; then
    mkdir -p "$work/$name"/ui/app/dist/{elm,mantine}
    touch "$work/$name"/ui/app/dist/{elm,mantine}/index.html
  fi
  (cd "$work/$name" && go build -ldflags "-X github.com/prometheus/common/version.Version=${version#v}" "$@" \
    -o "$out/$name" "./cmd/$name")
}

# Without these tags, which are those of its releases, Thanos crashes when it sends labels.
build thanos github.com/thanos-io/thanos "$THANOS" -tags netgo,slicelabels
build alertmanager github.com/prometheus/alertmanager "$ALERTMANAGER"
if [[ ! -x otelcol/otelcol-fleet ]]; then
  GOBIN=$out go install "go.opentelemetry.io/collector/cmd/builder@$COLLECTOR"
  ./builder --config="$here/collector-builder.yaml"
fi
