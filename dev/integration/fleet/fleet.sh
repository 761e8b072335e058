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
# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
MAX_DIFFERENCE=3 # percent
SCRAPE=5         # seconds

seconds=180
parse -s=seconds -o=out -- "$@"
check_number -s "$seconds" 1
end_after $((seconds + 900)) "$@"
require prometheus pidstat curl jq java javac mvn
[[ -x $thanos && -x $collector ]] || die 'Thanos or the Collector is missing: run dev/integration/fleet/build.sh'
begin fleet.txt

# The library, and everything that its tests use, which includes an exporter for OTLP.
mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true -f "$root/pom.xml" \
  -pl metrics/opentelemetry -am package dependency:build-classpath -Dmdep.outputFile=target/test.classpath \
  >"$work/build.log" 2>&1 || die 'the build of the library failed'
library=$root/metrics/opentelemetry/target/classes:$(<"$root/metrics/opentelemetry/target/test.classpath")

# The programs. Their standard input keeps them alive.
compile FleetLoad.java LibraryLoad.java
mkfifo "$work/stdin"
exec 3<>"$work/stdin"
collector_url=http://127.0.0.1:14318
jvms=()
libraries=()
start_jvm() { # NAME PERCENT [CLASS]
  java -Xmx64m -cp "$work/classes:$library" "${3-FleetLoad}" "$1" "$2" "$collector_url/v1/metrics" "$SCRAPE" \
    >"$work/$1.log" 2>&1 <&3 &
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
rules=(taskclock.rules.yml)
start_prometheus receiver 19092
start_collector 14318 "$receiver"

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
start_thanos 19113 one=19090 two=19091
querier=http://127.0.0.1:19113
jvms() { # LABEL SELECTOR
  echo "count(count by ($1) (taskclock_thread_cpu_time_seconds_total{$2}))"
}
wait_for 'six JVMs in Thanos' is 6 "$querier" "$(jvms jvm '')"
# OTLP has its own names for a process and a service. The Collector turns the latter into the job.
wait_for 'six JVMs behind the Collector' is 6 "$receiver" "$(jvms process_pid 'job!="library"')"
wait_for 'libraries behind the Collector' is ${#libraries[@]} "$receiver" "$(jvms process_pid 'job="library"')"
sleep $((3 * SCRAPE)) # so that the interval begins between two scrapes of each

conditions
say "$(version prometheus), $(version "$thanos"), $(version "$collector")"
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
  awk -F '\t' '$1 >= 0.005 { printf "%10.2f s  %-8s %s\n", $1, $2, $3 }' | tee -a "$work/fleet.txt"

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
services=$(query "$querier" 'count by (service) (jvm:taskclock_process_cpu_time_seconds:rate5m)' "$end" |
  jq -r 'map("\(.metric.service) (\(.value[1]) JVMs)") | sort | join(", ")')
say "services in Thanos, as recorded by the rules: $services"
[[ $services == 'fleet-a (2 JVMs), fleet-b (2 JVMs), fleet-c (2 JVMs)' ]] || status=1
alerts=$(query "$querier" 'ALERTS' "$end" |
  jq -r 'map("\(.metric.alertname) (\(.metric.service), \(.metric.alertstate))") | unique | join(", ")')
say "alerts: ${alerts:-none}"
series=$(number "$querier" 'count({job="taskclock", __name__=~"taskclock_.*", jvm!=""})' "$end")
say "series of the six JVMs: $series"
if ((status == 0)); then say "all within $MAX_DIFFERENCE %"; else say "NOT all within $MAX_DIFFERENCE %"; fi
cp "$work/fleet.txt" "$out/fleet.txt"
cp "$work/pidstat.txt" "$out/pidstat.txt"
exit "$status"
