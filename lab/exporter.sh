#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Measures the cost of taskclock exporter: starts JVMs, scrapes the exporter every 15 s, and prints its CPU usage and
# memory, and those of other tools if they are installed. Needs curl.
#
# Usage: exporter.sh [JVMS [THREADS [SECONDS]]]
#        exporter.sh -a none|accounts|distributions [JVMS [SECONDS]]
#
# With -a, measures only the exporter, with JVMs that have 100 named accounts each, or would have them ("none"), after
# as many scrapes as in an hour.
set -euo pipefail

counted=
match=LoadProgram
if [[ ${1-} == -a ]]; then
  counted=${2:?see the usage in this file}
  jvms=${3:-50}
  seconds=${4:-180}
  match=AccountLoad
else
  jvms=${1:-100}
  threads=${2:-200}
  seconds=${3:-90}
fi
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
port=${PORT:-19464}
scrape_seconds=15
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

# shellcheck source=lab/jvms.sh
source "$root/lab/jvms.sh"
if [[ $counted ]]; then start_accounts "$jvms" "$counted"; else start_jvms "$jvms" "$threads"; fi

# Prints the CPU usage and the memory of a process, scraped at the given URL if there is one.
measure() {
  local name=$1 pid=$2 url=${3:-} before after series=
  before=$(cpu_ticks "$pid")
  for ((i = 0; i < seconds / scrape_seconds; i++)); do
    sleep "$scrape_seconds"
    if [[ -n $url ]]; then series=$(curl -s --compressed "$url" | grep -vc '^#'); fi
  done
  after=$(cpu_ticks "$pid")
  awk -v n="$name" -v t="$((after - before))" -v s="$((seconds / scrape_seconds * scrape_seconds))" \
    -v m="$(memory "$pid")" -v r="${series:+$series series}" \
    'BEGIN { printf "%-20s %6.2f %% of a core  %s %s\n", n, t * 100 / 100 / s, m, r }'
}

what="${counted:+counted: $counted}${threads:+$threads threads each}"
echo "$jvms JVMs, $what; scraped every $scrape_seconds s for $seconds s; kernel $(uname -r)"
"$java" -version 2>&1 | sed -n 1p
JAVA_HOME=${JAVA_HOME:-} "$root/taskclock" exporter --match "$match" \
  --web.listen-address "127.0.0.1:$port" 2>"$work/log" &
exporter=$!
pids+=("$exporter")
until curl -sf "http://127.0.0.1:$port/-/ready" >/dev/null; do sleep 0.5; done
sleep 20 # reading the names of threads, and warming up
for ((i = 0; i < ${counted:+239}+1; i++)); do
  curl -s --compressed "http://127.0.0.1:$port/metrics" >/dev/null
done
measure 'taskclock exporter' "$exporter" "http://127.0.0.1:$port/metrics"
curl -s "http://127.0.0.1:$port/metrics" | grep -E '^taskclock_exporter_(jvms|threads|series|read_|sample_)'
kill "$exporter"
if [[ $counted ]]; then exit; fi

if command -v pidstat >/dev/null; then
  LC_ALL=C pidstat -t -u 1 >/dev/null &
  pids+=($!)
  measure 'pidstat -t 1' $!
  kill "${pids[-1]}"
fi
if command -v prometheus-process-exporter >/dev/null; then
  printf 'process_names:\n  - name: "{{.Comm}}:{{.PID}}"\n    cmdline: ["LoadProgram"]\n' >"$work/names.yml"
  prometheus-process-exporter -config.path "$work/names.yml" -threads=true -web.listen-address "127.0.0.1:$((port + 1))" \
    >/dev/null 2>&1 &
  pids+=($!)
  sleep 5
  measure 'process-exporter' $! "http://127.0.0.1:$((port + 1))/metrics"
fi
