#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Measures the cost of taskclock serve: starts JVMs, and prints the time from its start to the first page, then its CPU
# usage and memory without a browser, and with 1 and 20 clients that receive events. HistoryBenchmark measures how its
# history grows in a day; in the first hour it grows faster, because it keeps one row a second for that time. Needs
# curl.
#
# Usage: serve.sh [JVMS [THREADS [SECONDS]]]
set -euo pipefail

jvms=${1:-50}
threads=${2:-200}
seconds=${3:-120}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
port=${PORT:-19466}
url=http://127.0.0.1:$port
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

# shellcheck source=lab/jvms.sh
source "$root/lab/jvms.sh"
start_jvms "$jvms" "$threads"

# Prints the CPU usage and the memory while a number of clients receive events. The clients receive the overview, and
# every second one also all threads of a JVM.
measure() {
  local clients=$1 curls=() before after id
  id=$(curl -s "$url/api/jvms" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
  for ((i = 0; i < clients; i++)); do
    curl -sN -H 'Accept-Encoding: gzip' "$url/api/events?of=jvms" >/dev/null &
    curls+=($!)
    if ((i % 2 == 0)); then
      curl -sN -H 'Accept-Encoding: gzip' "$url/api/events?of=$id" >/dev/null &
      curls+=($!)
    fi
  done
  pids+=("${curls[@]}")
  sleep 10
  before=$(cpu_ticks "$server")
  sleep "$seconds"
  after=$(cpu_ticks "$server")
  awk -v n="$clients" -v t="$((after - before))" -v s="$seconds" -v m="$(memory "$server")" \
    'BEGIN { printf "clients: %2d  %6.2f %% of a core  %s\n", n, t / s, m }'
  ((clients == 0)) || kill "${curls[@]}"
}

# Prints the bytes that a client of the overview receives in a second: curl's arguments.
bytes() {
  (timeout 30 curl -sN "$@" || true) | wc -c | awk '{ printf "%d", $1 / 30 }'
}

echo "$jvms JVMs, $threads threads each; $seconds s each; kernel $(uname -r)"
"$java" -version 2>&1 | sed -n 1p
"$root/taskclock" --version
for run in 1 2 3; do
  start=$(date +%s%N)
  JAVA_HOME=${JAVA_HOME:-} "$root/taskclock" serve --match LoadProgram --listen "127.0.0.1:$port" --data "$work/data" \
    2>"$work/log" &
  server=$!
  until curl -sf "$url/" >/dev/null; do sleep 0.01; done
  echo "first page after $((($(date +%s%N) - start) / 1000000)) ms"
  ((run == 3)) && break
  sleep 5
  kill "$server"
  wait "$server" || true
done
pids+=("$server")
until curl -sf "$url/-/ready" >/dev/null; do sleep 0.5; done
sleep 30 # reading the names of threads, and warming up
measure 0
measure 1
sleep 15 # the JVM is watched for some seconds after the last client has left
measure 20
echo "overview, bytes a second: complete $(bytes "$url/api/live"), as the page receives it" \
  "$(bytes -H 'Accept-Encoding: gzip' "$url/api/events?of=jvms")"
