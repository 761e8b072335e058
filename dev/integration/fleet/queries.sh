#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# queries.sh [-j JVMS] [-d DIRECTORY] [-o DIRECTORY]
#
# Measures how fast taskclock serve --fleet answers from a Prometheus that has recorded a fleet of JVMS: a day, and the
# same day a week earlier, evaluated each minute. The series are those of RecordedFleet.java. Writes queries.txt.
#
#   -j JVMS       size of the fleet (default: 100000)
#   -d DIRECTORY  keep Prometheus' data there, and use it again (default: a temporary directory)
#   -o DIRECTORY  directory for the results (default: dev/integration/results/fleet)
#
# Requires prometheus, promtool, java, curl, and jq; for 100,000 JVMs, 12 GB of disk and half an hour. TASKCLOCK names
# another command. Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}
RUNS=5
STEP=60 # seconds
DAY=86400
WEEK=$((7 * DAY))
TARGET=500 # milliseconds

die() {
  echo "queries.sh: $1" >&2
  exit "${2:-1}"
}

jvms=100000
data=
out=$here/../results/fleet
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -d | -o)
      [[ ${2-} ]] || die "$1: missing value: see queries.sh --help" 2
      case $1 in -j) jvms=$2 ;; -d) data=$2 ;; -o) out=$2 ;; esac
      shift 2
      ;;
    *) die "$1: unknown argument: see queries.sh --help" 2 ;;
  esac
done
[[ $jvms =~ ^[1-9][0-9]{2,6}$ ]] || die "-j $jvms: must be a number from 100" 2
for program in prometheus promtool java javac curl jq; do
  command -v "$program" >/dev/null || die "$program is not installed"
done
taskclock=${TASKCLOCK:-$root/taskclock}

mkdir -p "$out"
work=$(mktemp -d)
: "${data:=$work/data}"
mkdir -p "$data"
pids=()
finish() {
  local status=$? pid
  trap - EXIT
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
say() {
  printf '%s\n' "$*" | tee -a "$work/queries.txt"
}

# record KIND FROM TO: adds blocks of a part of the fleet.
record() {
  java -Xmx512m -cp "$work/classes" RecordedFleet "$1" "$jvms" "$2" "$3" "$STEP" >"$data/samples.txt"
  promtool tsdb create-blocks-from openmetrics --max-block-duration=24h "$data/samples.txt" "$data/tsdb" >/dev/null
  rm "$data/samples.txt"
}
if [[ ! -e $data/end ]]; then
  mkdir -p "$work/classes"
  javac -d "$work/classes" "$here/RecordedFleet.java"
  end=$(($(date +%s) / STEP * STEP))
  for to in "$end" $((end - WEEK)); do
    record history $((to - DAY)) "$to"
    record now $((to - 10 * STEP)) "$to"
  done
  echo "$end" >"$data/end"
fi
end=$(<"$data/end")

# wait_for URL: until it answers with success.
wait_for() {
  local limit=$((SECONDS + 120))
  until curl -fsS "$1" >/dev/null 2>&1; do
    ((SECONDS < limit)) || die "$1: not ready after two minutes"
    sleep 0.5
  done
}
prometheus_url=http://127.0.0.1:19480
fleet_url=http://127.0.0.1:19481
printf 'global: {query_log_file: %s}\n' "$work/query.log" >"$work/prometheus.yml"
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$data/tsdb" --storage.tsdb.retention.time=10y \
  --web.listen-address="${prometheus_url#http://}" >"$work/prometheus.log" 2>&1 &
server=$!
pids+=("$server")
wait_for "$prometheus_url/-/ready"
"$taskclock" serve --fleet "$prometheus_url" --listen "${fleet_url#http://}" 2>"$work/serve.log" &
pids+=($!)
wait_for "$fleet_url/-/healthy"

say "$(date -u +%FT%TZ), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
say "$(prometheus --version 2>&1 | head -1 | cut -d'(' -f1), $jvms JVMs, $(cat "$data"/tsdb/*/meta.json |
  jq -s 'map(.stats.numSamples) | add') samples in $(cat "$data"/tsdb/*/meta.json | jq -s length) blocks"
say
say "Each request with its queries, in milliseconds: the first, and the median and maximum of $RUNS at other times"
say "$(printf '%-36s %10s %8s %8s %8s %10s' request range first median maximum bytes)"
# request PATH PARAMETERS HOURS
request() {
  local times=() i to result
  for ((i = 0; i <= RUNS; i++)); do
    # Other times, because answers are kept for a few seconds.
    to=$(((end - i * 15) * 1000))
    result=$(curl -fsS -o "$work/answer" -w '%{time_total} %{size_download}' \
      "$fleet_url/api/fleet/$1?$2&from=$((to - $3 * 3600000))&to=$to") || die "$1 $2: failed: see $work/serve.log"
    times+=("$(awk '{ printf "%.0f", $1 * 1000 }' <<<"$result")")
  done
  local sorted
  mapfile -t sorted < <(printf '%s\n' "${times[@]:1}" | sort -n)
  say "$(printf '%-36s %8s h %8s %8s %8s %10s' "$1 $2" "$3" "${times[0]}" "${sorted[RUNS / 2]}" \
    "${sorted[RUNS - 1]}" "$(cut -d' ' -f2 <<<"$result")")"
  printf '%s\n' "${sorted[RUNS / 2]}" >>"$work/medians"
}
for hours in 24 1; do
  for by in service version host pool account; do
    request usage "by=$by" "$hours"
    request series "by=$by" "$hours"
  done
  for by in jvm version host pool account; do
    request usage "service=service-1&by=$by" "$hours"
    request series "service=service-1&by=$by" "$hours"
  done
  request findings "" "$hours"
  request versions "" "$hours"
  request versions "service=service-1" "$hours"
done
say
say "Prometheus: resident $(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$server/status") MiB"
say "requests with a median of more than $TARGET ms: $(awk -v max="$TARGET" '$1 > max' "$work/medians" | wc -l)"
say
say "The slowest queries as Prometheus logs them: median and maximum in milliseconds, samples read, query"
jq -r '[.params.query, .stats.timings.evalTotalTime * 1000, (.stats.samples.totalQueryableSamples // 0)] | @tsv' \
  "$work/query.log" | sort | awk -F '\t' '
    function flush() {
      if (n) printf "%6.0f %6.0f %10d  %s\n", values[int((n + 1) / 2)], values[n], samples, query
      n = 0
    }
    $1 != query { flush(); query = $1 }
    { values[++n] = $2; samples = $3; for (i = n; i > 1 && values[i] < values[i - 1]; i--) {
        t = values[i]; values[i] = values[i - 1]; values[i - 1] = t } }
    END { flush() }' | sort -rn | cut -c1-200 >"$work/slowest"
head -12 "$work/slowest" | tee -a "$work/queries.txt"
cp "$work/queries.txt" "$out/queries.txt"
