#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# hosts.sh [-j JVMS] [-o DIRECTORY]
#
# Runs a fleet of 50 hosts on loopback, lets a thread on one of them misbehave, and checks that the finding arrives as
# an alert and on the page of the fleet, from which a browser then goes to that thread:
#
#   45 synthetic hosts (SyntheticFleet.java), and five that have a JVM under load (FleetLoad.java) and taskclock serve;
#   two Prometheus servers with all rules, each of which scrapes all hosts and sends alerts to Alertmanager;
#   Thanos: a sidecar for each of them, and a querier that removes duplicates;
#   an OpenTelemetry Collector, to which the five push OTLP, and which passes it on to a third Prometheus;
#   taskclock serve --fleet, which reads from Thanos, and Chromium.
#
#   -j JVMS       JVMs on each synthetic host (default: 10)
#   -o DIRECTORY  directory for the results (default: dev/integration/results/fleet)
#
# Requires prometheus, chromium, curl, jq, a JDK, Maven, and what build.sh builds; THANOS, ALERTMANAGER, and OTELCOL
# name other binaries, and TASKCLOCK another command. Takes about ten minutes. Exit codes: 0 success, 1 failure,
# 2 usage error.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
SYNTHETIC=45
REAL=5
FIRST_PORT=19600
KIND=yield-storm
FINDINGS=jvm_finding:taskclock_finding_start_time_seconds:active

jvms=10
parse -j=jvms -o=out -- "$@"
check_number -j "$jvms" 1
end_after 3600 "$@"
require prometheus chromium curl jq java javac mvn
[[ -x $thanos && -x $alertmanager && -x $collector ]] ||
  die 'Thanos, Alertmanager, or the Collector is missing: run dev/integration/fleet/build.sh'
begin hosts.txt

# The browser is driven by a class of the page's tests.
browser=$root/web/target/test.classpath
if [[ ! -f $browser || -n $(find "$root/web/src" "$root/web/pom.xml" -newer "$browser" -print -quit) ]]; then
  mvn -B -q -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true -f "$root/pom.xml" -pl web -am \
    package dependency:build-classpath -Dmdep.outputFile=target/test.classpath >"$work/build.log" 2>&1 ||
    die "the build of the page's tests failed"
fi

first=http://127.0.0.1:19590
second=http://127.0.0.1:19591
receiver=http://127.0.0.1:19592
querier=http://127.0.0.1:19513
alerts_url=http://127.0.0.1:19593
fleet=http://127.0.0.1:19594

# Hosts. Programs end with their standard input.
"$taskclock" --version >/dev/null # builds it if it has changed
compile FleetLoad.java SyntheticFleet.java
run synthetic java -Xmx1g -cp "$work/classes" SyntheticFleet serve "$jvms" "$FIRST_PORT" "$SYNTHETIC"
mkfifo "$work/stdin" "$work/bad"
exec 3<>"$work/stdin" 4<>"$work/bad"
targets=()
for ((i = 0; i < SYNTHETIC + REAL; i++)); do targets+=("127.0.0.1:$((FIRST_PORT + i))"); done
servers=()
for ((i = 1; i <= REAL; i++)); do
  java -Xmx64m -cp "$work/classes" FleetLoad "orders-$i" 10 >"$work/orders-$i.log" 2>&1 <&$((i == REAL ? 4 : 3)) &
  bad=$! # in the end, that of the last
  wait_for "orders-$i" grep -q ready "$work/orders-$i.log"
  bad_host=127.0.0.1:$((FIRST_PORT + SYNTHETIC + i - 1))
  run "host-$i" "$taskclock" serve --match "Load orders-$i" --service 'regex:Load (orders)' --listen "$bad_host" \
    --data "$work/host-$i" --otlp-endpoint http://127.0.0.1:19518 --push-interval "${SCRAPE}s"
  servers+=("$started")
done
"$taskclock" attach "$bad" --yield count >"$work/attach.log" 2>&1 || die "the agent cannot be attached"

# Engines.
cat >"$work/alertmanager.yml" <<'END'
route:
  receiver: others
  group_by: [service, finding]
  routes: [{receiver: findings, matchers: ['finding!=""']}]
receivers: [{name: others}, {name: findings}]
END
run alertmanager "$alertmanager" --config.file="$work/alertmanager.yml" --storage.path="$work/alertmanager" \
  --web.listen-address="${alerts_url#http://}" --cluster.listen-address=
wait_for_url "$alerts_url/-/ready"
rules=()
start_prometheus receiver "${receiver##*:}"
start_collector 19518 "$receiver"
rules=(taskclock.rules.yml taskclock-fleet.rules.yml)
alerts_to=${alerts_url#http://}
start_prometheus one "${first##*:}" "${targets[@]}"
prometheus_pid=$started
start_prometheus two "${second##*:}" "${targets[@]}"
start_thanos "${querier##*:}" one="${first##*:}" two="${second##*:}"
run fleet "$taskclock" serve --fleet "$querier" --listen "${fleet#http://}" --data "$work/fleet"
fleet_pid=$started

all=$((SYNTHETIC * jvms + REAL))
WAIT=300
for url in "$first" "$second" "$querier"; do
  wait_for "50 hosts in $url" is $((SYNTHETIC + REAL)) "$url" 'sum(up{job="taskclock"})'
  wait_for "$all JVMs in $url" is "$all" "$url" 'sum(service:taskclock_jvms:count)'
done
wait_for_url "$fleet/-/ready"
wait_for 'the real JVMs behind the Collector' is $REAL "$receiver" \
  'count(count by (process_pid) (taskclock_thread_cpu_time_seconds_total))'
sleep 30 # so that something would be found that should not

conditions
say "$(version prometheus), $(version "$thanos"), $(version "$alertmanager"), $(version "$collector"), JDK" \
  "$(java -version 2>&1 | sed 's/.*version "\([^"]*\)".*/\1/;q')"
say "$((SYNTHETIC + REAL)) hosts, $all JVMs," \
  "$(number "$first" 'count({job="taskclock", __name__=~"taskclock_.*"})') series, and" \
  "$(number "$first" 'count({job="taskclock", __name__=~".*:.*"})') that the rules record"

# findings [FILTER]: prints those on the page of the fleet, also those that have ended, as the alerts.
findings() {
  curl -fsS "$fleet/api/fleet/findings" | jq -r ".findings[] | ${1-.} |"'
    "\(.kind) of \(.labels.jvm) on \(.labels.instance)"' | sort -u
}
active() { findings 'select(.active)'; }
alerts() {
  curl -fsS "$alerts_url/api/v2/alerts"
}
alerting() {
  alerts | jq -r '.[].labels | select(.finding) | "\(.finding) of \(.jvm) on \(.instance)"' | sort -u
}
say "before: $(alerting | wc -l) alerts of findings, $(active | wc -l) findings on the page"
since() {
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b - a }'
}
begun=$(date +%s.%N)
echo >&4
wanted="$KIND of orders-$bad on $bad_host"
selected="${FINDINGS}{taskclock_finding_kind=\"$KIND\", instance=\"$bad_host\"}"
wait_for 'the finding in Thanos' is 1 "$querier" "count($selected)"
say
say "yielder-1 in orders-$bad on $bad_host begins to call Thread.yield"
say "  in Thanos after $(since "$begun" "$(date +%s.%N)") s, as begun" \
  "$(since "$begun" "$(number "$querier" "$selected")") s after the thread"
wait_for 'the finding behind the Collector' is 1 "$receiver" \
  "count(taskclock_finding{taskclock_finding_kind=\"$KIND\"} == 1)"
on_page() { active | grep -qxF "$wanted"; }
wait_for 'the finding on the page' on_page
say "  on the page of the fleet after $(since "$begun" "$(date +%s.%N)") s"
in_alertmanager() { alerting | grep -qxF "$wanted"; }
WAIT=900
wait_for 'the alert in Alertmanager' in_alertmanager
say "  in Alertmanager after $(since "$begun" "$(date +%s.%N)") s, of which the rule waits 300 s"
sleep $((2 * SCRAPE)) # so that the other Prometheus has sent it, too

say
say 'Alertmanager:'
alerts | jq -r '.[] | "  \(.labels.alertname) finding=\(.labels.finding) service=\(.labels.service) jvm=\(.labels.jvm)
    instance=\(.labels.instance) pool=\(.labels.taskclock_pool_name) state=\(.status.state) to=\(.receivers[0].name)
    \(.annotations.summary)"' | tee -a "$work/hosts.txt"
say 'Page of the fleet:'
active | sed 's/^/  /' | tee -a "$work/hosts.txt"
status=0
check() { # DESCRIPTION COMMAND...
  local result=ok
  "${@:2}" >/dev/null || result=FAILED status=1
  say "$1: $result"
}
alone() { [[ $(alerts | jq --arg kind "$KIND" '[.[] | select(.labels.finding == $kind)] | length') == 1 ]]; }
subset() { [[ -z $(comm -23 <(alerting) <(findings)) ]]; }
check 'of two Prometheus servers, Alertmanager has one alert' alone
check 'each alert of a finding is a finding on the page' subset

say
say 'Browser:'
check 'from the fleet to the thread' bash -o pipefail -c '"$@" | sed "s/^/  /" | tee -a "$0" >&2' "$work/hosts.txt" \
  java -cp "$root/web/target/test-classes:$(<"$browser")" org.taskclock.web.page.FleetWalk "$fleet/" orders \
  "$bad_host" yielder-1 "$KIND"

say
say 'Rules, as Prometheus measures their evaluation:'
curl -fsS "$first/api/v1/rules" | jq -r '.data.groups[] |
  "  \(.name): \(.rules | length) rules, \(.evaluationTime * 1000 | round) ms, \([.rules[] | select(.health == "err")] |
  length) failed"' | tee -a "$work/hosts.txt"
say "Scrapes: at most $(number "$first" '1000 * max(scrape_duration_seconds{job="taskclock"})' |
  cut -d. -f1) ms"
say 'Requests of the page, last hour, in ms:'
for request in 'usage?' 'series?' 'findings?' 'versions?' 'usage?service=orders&' 'series?service=orders&'; do
  say "$(curl -fsS -o "$work/answer" -w '%{time_total}' \
    "$fleet/api/fleet/${request}from=$((($(date +%s) - 3600) * 1000))" |
    awk -v request="${request%?}" '{ printf "  %-24s %6.0f", request, $1 * 1000 }')"
done
say "Resident, MiB: Prometheus $(resident "$prometheus_pid"), serve --fleet $(resident "$fleet_pid")," \
  "serve of a host $(resident "${servers[0]}")"
conditions
cp "$work/hosts.txt" "$out/hosts.txt"
exit "$status"
