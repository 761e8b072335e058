#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# fleet.sh [-s SECONDS] [-o DIRECTORY]
#
# Measures the CPU time of a fleet in three ways at once, and compares each with pidstat. Everything runs on loopback:
# six JVMs under load in three groups, one exporter for each group, and
#
#   two Prometheus servers, of which one scrapes two exporters and the other one, with the rules loaded;
#   Thanos: a sidecar for each of them, and a querier that answers one query over both;
#   an OpenTelemetry Collector, to which all exporters push OTLP, and which passes it on to a third Prometheus.
#
# Two of the JVMs also report themselves to the Collector, with taskclock-opentelemetry as a library.
#
#   -s SECONDS    how long to measure (default: 180)
#   -o DIRECTORY  directory for the results (default: dev/integration/results/fleet)
#
# Requires prometheus, pidstat, curl, jq, a JDK, Maven, and what build.sh builds; THANOS and OTELCOL name other
# binaries, and TASKCLOCK another command. Exit codes: 0 all sums are within 3 % of pidstat, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}
MAX_DIFFERENCE=3 # percent
SCRAPE=5         # seconds

die() {
  echo "fleet.sh: $1" >&2
  exit "${2:-1}"
}

arguments=("$@")
seconds=180
out=$here/../results/fleet
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -s | -o)
      [[ ${2-} ]] || die "$1: missing value: see fleet.sh --help" 2
      if [[ $1 == -s ]]; then seconds=$2; else out=$2; fi
      shift 2
      ;;
    *) die "$1: unknown argument: see fleet.sh --help" 2 ;;
  esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-s $seconds: not a number of seconds" 2

# Nothing may run on if something hangs.
[[ ${FLEET_BOUNDED-} ]] ||
  FLEET_BOUNDED=1 exec timeout --foreground $((seconds + 900)) "${BASH_SOURCE[0]}" "${arguments[@]}"

taskclock=${TASKCLOCK:-$root/taskclock}
thanos=${THANOS:-$here/target/thanos}
collector=${OTELCOL:-$here/target/otelcol/otelcol-fleet}
for program in prometheus pidstat curl jq java javac mvn; do
  command -v "$program" >/dev/null || die "$program is not installed"
done
[[ -x $thanos && -x $collector ]] || die 'Thanos or the Collector is missing: run dev/integration/fleet/build.sh'

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
pids=()
stop_all() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
}
finish() {
  local status=$?
  trap - EXIT
  stop_all
  if ((status != 0)); then
    echo "fleet.sh: failed: the logs are in $work" >&2
  else
    rm -rf "$work"
  fi
  exit "$status"
}
trap finish EXIT

# run NAME COMMAND...: starts a program; its id is the last one in pids.
run() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 </dev/null &
  pids+=($!)
}

# wait_for DESCRIPTION COMMAND...: repeats a command until it succeeds, for up to two minutes.
wait_for() {
  local description=$1 end=$((SECONDS + 120))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || die "$description: not ready after two minutes"
    sleep 0.5
  done
}

say() {
  printf '%s\n' "$*" | tee -a "$work/output.txt"
}

# query URL EXPRESSION TIME: prints the samples of an instant query as JSON.
query() {
  curl -fsS --max-time 30 "$1/api/v1/query" --data-urlencode "query=$2" --data-urlencode "time=$3" |
    jq -e 'if .status == "success" then .data.result else error(.error) end'
}

# number URL EXPRESSION TIME: prints the only value, or 0 if there is none.
number() {
  query "$1" "$2" "$3" | jq -r 'if length == 0 then "0" else .[0].value[1] end'
}

# The library, and everything that its tests use, which includes an exporter for OTLP.
mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true -f "$root/pom.xml" \
  -pl metrics/opentelemetry -am package dependency:build-classpath -Dmdep.outputFile=target/test.classpath \
  >"$work/build.log" 2>&1 || die 'the build of the library failed'
library=$root/metrics/opentelemetry/target/classes:$(<"$root/metrics/opentelemetry/target/test.classpath")

# The programs. Their standard input keeps them alive.
mkdir "$work/classes"
javac -d "$work/classes" -cp "$library" "$here/FleetLoad.java" "$here/LibraryLoad.java"
mkfifo "$work/stdin"
exec 3<>"$work/stdin"
collector_url=http://127.0.0.1:14318
jvms=()
libraries=()
start_jvm() { # NAME PERCENT [CLASS]
  java -Xmx64m -cp "$work/classes:$library" "${3-FleetLoad}" "$1" "$2" "$collector_url/v1/metrics" "$SCRAPE" \
    >"$work/$1.log" 2>&1 <&3 &
  pids+=($!)
  jvms+=($!)
  [[ ${3-} != LibraryLoad ]] || libraries+=($!)
  wait_for "$1" grep -q ready "$work/$1.log"
}
start_jvm fleet-a-1 30 LibraryLoad
start_jvm fleet-a-2 10
start_jvm fleet-b-1 20 LibraryLoad
start_jvm fleet-b-2 10
start_jvm fleet-c-1 30
start_jvm fleet-c-2 20

# The Collector and the Prometheus that receives what it passes on.
receiver=http://127.0.0.1:19092
cat >"$work/collector.yaml" <<END
receivers:
  otlp:
    protocols:
      http: {endpoint: 127.0.0.1:14318}
processors:
  batch: {timeout: 1s}
exporters:
  prometheusremotewrite:
    endpoint: $receiver/api/v1/write
    resource_to_telemetry_conversion: {enabled: true}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], processors: [batch], exporters: [prometheusremotewrite]}
END

# prometheus NAME PORT TARGET...
start_prometheus() {
  local name=$1 port=$2 targets
  shift 2
  targets=$(printf "'%s', " "$@")
  mkdir "$work/$name"
  cp "$root/deploy/prometheus/taskclock.rules.yml" "$work/$name"
  cat >"$work/$name/prometheus.yml" <<END
global:
  scrape_interval: ${SCRAPE}s
  evaluation_interval: ${SCRAPE}s
  external_labels: {prometheus: $name}
rule_files: [taskclock.rules.yml]
scrape_configs:
  - job_name: taskclock
    static_configs: [{targets: [${targets%, }]}]
END
  # Thanos requires blocks of one size.
  run "$name" prometheus --config.file="$work/$name/prometheus.yml" --storage.tsdb.path="$work/$name/data" \
    --storage.tsdb.min-block-duration=2h --storage.tsdb.max-block-duration=2h \
    --web.listen-address="127.0.0.1:$port" --web.enable-remote-write-receiver
  wait_for "$name" curl -fsS "http://127.0.0.1:$port/-/ready"
}
start_prometheus receiver 19092
run collector "$collector" --config="$work/collector.yaml"

port=19464
for group in a b c; do
  run "exporter-$group" "$taskclock" exporter --match "Load fleet-$group" \
    --service 'regex:Load (fleet-[a-z])' --web.listen-address "127.0.0.1:$port" \
    --otlp-endpoint "$collector_url" --push-interval "${SCRAPE}s"
  port=$((port + 1))
done
for port in 19464 19465 19466; do
  wait_for "exporter on port $port" \
    sh -c "curl -fsS http://127.0.0.1:$port/metrics | grep '^taskclock_thread_cpu_time_seconds_total.*http-nio'"
done
start_prometheus one 19090 127.0.0.1:19464 127.0.0.1:19465
start_prometheus two 19091 127.0.0.1:19466
run sidecar-one "$thanos" sidecar --prometheus.url=http://127.0.0.1:19090 --tsdb.path="$work/one/data" \
  --grpc-address=127.0.0.1:19101 --http-address=127.0.0.1:19111
run sidecar-two "$thanos" sidecar --prometheus.url=http://127.0.0.1:19091 --tsdb.path="$work/two/data" \
  --grpc-address=127.0.0.1:19102 --http-address=127.0.0.1:19112
run querier "$thanos" query --endpoint=127.0.0.1:19101 --endpoint=127.0.0.1:19102 \
  --grpc-address=127.0.0.1:19103 --http-address=127.0.0.1:19113
querier=http://127.0.0.1:19113
wait_for querier curl -fsS "$querier/-/ready"
has_jvms() { # NUMBER URL LABEL SELECTOR
  [[ $(number "$2" "count(count by ($3) (taskclock_thread_cpu_time_seconds_total{$4}))" "$(date +%s)") == "$1" ]]
}
wait_for 'six JVMs in Thanos' has_jvms 6 "$querier" jvm ''
# OTLP has its own names for a process and a service. The Collector turns the latter into the job.
wait_for 'six JVMs behind the Collector' has_jvms 6 "$receiver" process_pid 'job!="library"'
wait_for 'libraries behind the Collector' has_jvms ${#libraries[@]} "$receiver" process_pid 'job="library"'
sleep $((3 * SCRAPE)) # so that the interval begins between two scrapes of each

say "$(date -u +%FT%TZ), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
say "$(prometheus --version 2>&1 | sed 's/ *(.*//;q'), $("$thanos" --version 2>&1 | sed 's/ *(.*//;q')," \
  "$("$collector" --version)"
start=$(date +%s.%N)
list=$(IFS=, && echo "${jvms[*]}")
LC_ALL=C pidstat -u -p "$list" "$seconds" 1 >"$work/pidstat.txt"
end=$(date +%s.%N)
sleep $((3 * SCRAPE)) # until what happened before the end has arrived everywhere

# pidstat prints percentages of its interval.
length=$(awk -v a="$start" -v b="$end" 'BEGIN { printf "%.3f", b - a }')
awk -v s="$length" '$1 == "Average:" && $3 ~ /^[0-9]+$/ { print $3, $8 * s / 100 }' \
  "$work/pidstat.txt" >"$work/expected"
expected=$(awk '{ n += $2 } END { printf "%.3f", n }' "$work/expected")
range=$(awk -v s="$length" 'BEGIN { printf "%.0fms", s * 1000 }')
used="increase(taskclock_thread_cpu_time_seconds_total[$range])"
say "measured for $length s"
say
say 'CPU by pool over the fleet: sum by (taskclock_pool_name, taskclock_pool_kind) (increase(...)), asked of Thanos'
query "$querier" "sort_desc(sum by (taskclock_pool_name, taskclock_pool_kind) ($used))" "$end" |
  jq -r '.[] | [(.value[1] | tonumber), .metric.taskclock_pool_kind, .metric.taskclock_pool_name] | @tsv' |
  awk -F '\t' '$1 >= 0.005 { printf "%10.2f s  %-8s %s\n", $1, $2, $3 }' | tee -a "$work/output.txt"

status=0
# compare DESCRIPTION SECONDS EXPECTED: prints the difference, and notes one that is too large.
compare() {
  local line
  line=$(awk -v d="$1" -v a="$2" -v b="$3" -v max="$MAX_DIFFERENCE" 'BEGIN {
    difference = b > 0 ? 100 * (a - b) / b : 100
    size = difference < 0 ? -difference : difference
    printf "%-44s %9.2f s  %+6.2f %%  %s", d, a, difference, size <= max ? "ok" : "TOO FAR"
  }')
  say "$line"
  [[ $line == *ok ]] || status=1
}
say
say "$(printf '%-44s %9.2f s' "pidstat, all ${#jvms[@]} JVMs" "$expected")"
one=$(number http://127.0.0.1:19090 "sum($used)" "$end")
two=$(number http://127.0.0.1:19091 "sum($used)" "$end")
compare 'two Prometheus servers, added' "$(awk -v a="$one" -v b="$two" 'BEGIN { print a + b }')" "$expected"
compare 'Thanos, one query over both' "$(number "$querier" "sum($used)" "$end")" "$expected"
pushed() { # METRIC SELECTOR
  number "$receiver" "sum(increase($1{$2}[$range]))" "$end"
}
compare 'OTLP, Collector, remote write, Prometheus' \
  "$(pushed taskclock_thread_cpu_time_seconds_total 'job!="library"')" "$expected"
compare 'taskclock_process_cpu_time, asked of Thanos' \
  "$(number "$querier" "sum(increase(taskclock_process_cpu_time_seconds_total[$range]))" "$end")" "$expected"
say
expected_of_libraries=$(awk -v pids="${libraries[*]}" 'BEGIN { n = split(pids, all, " ")
    for (i = 1; i <= n; i++) wanted[all[i]] = 1 }
  $1 in wanted { sum += $2 } END { printf "%.3f", sum }' "$work/expected")
say "$(printf '%-44s %9.2f s' "pidstat, ${#libraries[@]} JVMs with the library" "$expected_of_libraries")"
compare 'library, OTLP, Collector, Prometheus' \
  "$(pushed taskclock_thread_cpu_time_seconds_total 'job="library"')" "$expected_of_libraries"
compare 'taskclock_process_cpu_time of the library' \
  "$(pushed taskclock_process_cpu_time_seconds_total 'job="library"')" "$expected_of_libraries"
selected="jvm=~\".*-($(IFS='|' && echo "${libraries[*]}"))\""
compare 'exporter, the same JVMs, asked of Thanos' "$(number "$querier" \
  "sum(increase(taskclock_thread_cpu_time_seconds_total{$selected}[$range]))" "$end")" \
  "$expected_of_libraries"
say
say 'Each JVM, for information: Thanos, and the difference to pidstat'
while read -r pid cpu; do
  used_by_pid=$(number "$querier" \
    "sum(increase(taskclock_thread_cpu_time_seconds_total{jvm=~\".*-$pid\"}[$range]))" "$end")
  say "$(awk -v pid="$pid" -v a="$used_by_pid" -v b="$cpu" \
    'BEGIN { printf "pid %-40s %9.2f s  %+6.2f %%", pid, a, (b > 0 ? 100 * (a - b) / b : 0) }')"
done <"$work/expected"

say
rules=$(curl -fsS http://127.0.0.1:19090/api/v1/rules | jq -r '[.data.groups[].rules[].health] | group_by(.) |
  map("\(length) \(.[0])") | join(", ")')
say "rules evaluated by Prometheus: $rules"
[[ $rules =~ ^[0-9]+\ ok$ ]] || status=1
services=$(query "$querier" 'count by (service, prometheus) (jvm:taskclock_process_cpu_time_seconds:rate5m)' "$end" |
  jq -r 'map("\(.metric.service) (\(.value[1]) JVMs, from \(.metric.prometheus))") | sort | join(", ")')
say "services in Thanos, as recorded by the rules: $services"
[[ $services == 'fleet-a (2 JVMs, from one), fleet-b (2 JVMs, from one), fleet-c (2 JVMs, from two)' ]] || status=1
alerts=$(query "$querier" 'ALERTS' "$end" |
  jq -r 'map("\(.metric.alertname) (\(.metric.service), \(.metric.alertstate))") | unique | join(", ")')
say "alerts: ${alerts:-none}"
series=$(number "$querier" 'count({job="taskclock", __name__=~"taskclock_.*", jvm!=""})' "$end")
say "series of the six JVMs: $series"
if ((status == 0)); then say "all within $MAX_DIFFERENCE %"; else say "NOT all within $MAX_DIFFERENCE %"; fi
cp "$work/output.txt" "$out/fleet.txt"
cp "$work/pidstat.txt" "$out/pidstat.txt"
exit "$status"
