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
# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
RUNS=5
STEP=60 # seconds
DAY=86400
WEEK=$((7 * DAY))
TARGET=500 # milliseconds

jvms=100000
data=
parse -j=jvms -d=data -o=out -- "$@"
check_number -j "$jvms" 100
require prometheus promtool java javac curl jq
begin queries.txt
: "${data:=$work/data}"
mkdir -p "$data"

# record KIND FROM TO: adds blocks of a part of the fleet.
record() {
  java -Xmx512m -cp "$work/classes" RecordedFleet "$1" "$jvms" "$2" "$3" "$STEP" >"$data/samples.txt"
  promtool tsdb create-blocks-from openmetrics --max-block-duration=24h "$data/samples.txt" "$data/tsdb" >/dev/null
  rm "$data/samples.txt"
}
if [[ ! -e $data/end ]]; then
  compile RecordedFleet.java
  end=$(($(date +%s) / STEP * STEP))
  for to in "$end" $((end - WEEK)); do
    record history $((to - DAY)) "$to"
    record now $((to - 10 * STEP)) "$to"
  done
  echo "$end" >"$data/end"
fi
end=$(<"$data/end")

prometheus_url=http://127.0.0.1:19480
fleet_url=http://127.0.0.1:19481
printf 'global: {query_log_file: %s}\n' "$work/query.json" >"$work/prometheus.yml"
run prometheus prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$data/tsdb" \
  --storage.tsdb.retention.time=10y --web.listen-address="${prometheus_url#http://}"
server=$started
wait_for_url "$prometheus_url/-/ready"
run serve "$taskclock" serve --fleet "$prometheus_url" --listen "${fleet_url#http://}" --data "$work/serve"
wait_for_url "$fleet_url/-/healthy"

conditions
say "$(version prometheus), $jvms JVMs, $(cat "$data"/tsdb/*/meta.json |
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
say "Prometheus: resident $(resident "$server") MiB"
say "requests with a median of more than $TARGET ms: $(awk -v max="$TARGET" '$1 > max' "$work/medians" | wc -l)"
say
say "The slowest queries as Prometheus logs them: median and maximum in milliseconds, samples read, query"
jq -r '[.params.query, .stats.timings.evalTotalTime * 1000, (.stats.samples.totalQueryableSamples // 0)] | @tsv' \
  "$work/query.json" | sort | awk -F '\t' '
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
