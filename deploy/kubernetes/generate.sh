#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Writes the files for Kustomize from the Helm chart, into this directory or into another one.
#
# Usage: [HELM=PROGRAM] deploy/kubernetes/generate.sh [DIRECTORY]
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
out=${1:-.}

# render FILE [OPTION]...
render() {
  local file=$out/$1
  mkdir -p -- "$(dirname -- "$file")"
  {
    echo '# SPDX-License-Identifier: Apache-2.0'
    echo '# Copyright the TaskClock authors'
    echo '#'
    echo '# Generated from the Helm chart by deploy/kubernetes/generate.sh.'
    # Helm does not manage what Kustomize applies. The version is the first with all fields.
    "${HELM:-helm}" template taskclock taskclock --namespace taskclock --kube-version 1.21.0 "${@:2}" |
      grep -vE '^ *(helm.sh/chart|app.kubernetes.io/managed-by): '
  } >"$file"
}

render base/taskclock.yaml
render podmonitor/podmonitor.yaml --set podMonitor.enabled=true --show-only templates/podmonitor.yaml
