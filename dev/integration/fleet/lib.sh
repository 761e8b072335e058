# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# What the scripts of this directory share: options, programs that end with the script, and the engines of a fleet.
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}
script=${0##*/}
taskclock=${TASKCLOCK:-$root/taskclock}
thanos=${THANOS:-$here/target/thanos}
alertmanager=${ALERTMANAGER:-$here/target/alertmanager}
collector=${OTELCOL:-$here/target/otelcol/otelcol-fleet}
out=$here/../results/fleet
SCRAPE=15 # seconds
WAIT=120  # seconds that something may take to become ready

die() {
  echo "$script: $1" >&2
  exit "${2:-1}"
}

# parse OPTION=VARIABLE... -- ARGUMENT...: sets variables from options with values.
parse() {
  local -A variables=()
  while [[ $1 != -- ]]; do
    variables[${1%%=*}]=${1#*=}
    shift
  done
  shift
  while (($#)); do
    case $1 in
      -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "$0" && exit 0 ;;
    esac
    [[ $1 && ${variables[$1]-} ]] || die "$1: unknown argument: see $script --help" 2
    [[ ${2-} ]] || die "$1: missing value: see $script --help" 2
    printf -v "${variables[$1]}" %s "$2"
    shift 2
  done
}

# check_number OPTION VALUE MINIMUM
check_number() {
  [[ $2 =~ ^[1-9][0-9]{0,6}$ ]] && (($2 >= $3)) || die "$1 $2: must be a number from $3 to 9999999" 2
}

require() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || die "$program is not installed"
  done
}

# end_after SECONDS ARGUMENT...: starts the script again, so that it ends if something hangs.
end_after() {
  [[ ${FLEET_BOUNDED-} ]] || FLEET_BOUNDED=1 exec timeout --foreground "$1" "$0" "${@:2}"
}

# begin NAME: creates the directories of logs and results. What say prints goes to the results as NAME.
begin() {
  output=$1
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  work=$(mktemp -d)
  trap finish EXIT
}

finish() {
  local status=$? running
  trap - EXIT
  mapfile -t running < <(jobs -p)
  stop "${running[@]}"
  if ((status == 0)); then
    rm -rf "$work"
  else
    # Without the data of Prometheus, which may be large.
    find "$work" -depth -mindepth 1 ! -name '*.log' ! -name '*.txt' -delete 2>/dev/null || true
    echo "$script: failed: the logs are in $work" >&2
  fi
  exit "$status"
}

stop() {
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do wait "$pid" 2>/dev/null || true; done
}

# run NAME COMMAND...: starts a program, whose id is then in started.
run() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 </dev/null &
  started=$!
}

# wait_for DESCRIPTION COMMAND...: repeats a command until it succeeds, for up to WAIT seconds.
wait_for() {
  local description=$1 end=$((SECONDS + WAIT))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || die "$description: not ready after $WAIT s"
    sleep 0.5
  done
}

wait_for_url() {
  wait_for "$1" curl -fsS --max-time 30 "$1"
}

say() {
  printf '%s\n' "$*" | tee -a "$work/$output"
}

conditions() {
  say "$(date -u +%FT%TZ), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
}

version() {
  "$1" --version 2>&1 | sed 's/ *(.*//;q'
}

# query URL EXPRESSION TIME: prints the samples of an instant query as JSON.
query() {
  curl -fsS --max-time 30 "$1/api/v1/query" --data-urlencode "query=$2" --data-urlencode "time=$3" |
    jq -e 'if .status == "success" then .data.result else error(.error) end'
}

# number URL EXPRESSION [TIME]: prints the only value, or 0 if there is none.
number() {
  query "$1" "$2" "${3:-$(date +%s)}" | jq -r 'if length == 0 then "0" else .[0].value[1] end'
}

# is NUMBER URL EXPRESSION: succeeds if that is the only value.
is() {
  [[ $(number "$2" "$3") == "$1" ]]
}

# resident PID: prints its memory in MiB.
resident() {
  awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$1/status"
}

# compile NAME.java...: into $work/classes, with the libraries in $library.
compile() {
  mkdir -p "$work/classes"
  (cd "$here" && javac -d "$work/classes" -cp "${library:-.}" "$@")
}

# start_prometheus NAME PORT TARGET...: with the rules named in rules, and alerts for alerts_to.
start_prometheus() {
  local name=$1 port=$2 targets rule
  shift 2
  targets=$(printf "'%s', " "$@")
  mkdir "$work/$name"
  for rule in "${rules[@]}"; do cp "$root/deploy/prometheus/$rule" "$work/$name"; done
  cat >"$work/$name/prometheus.yml" <<END
global:
  scrape_interval: ${SCRAPE}s
  evaluation_interval: ${SCRAPE}s
  external_labels: {prometheus: $name}
rule_files: [$(IFS=, && echo "${rules[*]}")]
alerting:
  # Of a pair, so that Alertmanager sees the same alert twice rather than two alerts.
  alert_relabel_configs: [{regex: prometheus, action: labeldrop}]
  alertmanagers: [{static_configs: [{targets: [${alerts_to-}]}]}]
scrape_configs:
  - job_name: taskclock
    static_configs: [{targets: [${targets%, }]}]
END
  # Thanos requires blocks of one size.
  run "$name" prometheus --config.file="$work/$name/prometheus.yml" --storage.tsdb.path="$work/$name/data" \
    --storage.tsdb.min-block-duration=2h --storage.tsdb.max-block-duration=2h \
    --web.listen-address="127.0.0.1:$port" --web.enable-remote-write-receiver
  wait_for_url "http://127.0.0.1:$port/-/ready"
}

# start_collector PORT URL: passes OTLP on to a Prometheus by remote write.
start_collector() {
  cat >"$work/collector.yaml" <<END
receivers:
  otlp:
    protocols:
      http: {endpoint: 127.0.0.1:$1}
processors:
  batch: {timeout: 1s}
exporters:
  prometheusremotewrite:
    endpoint: $2/api/v1/write
    resource_to_telemetry_conversion: {enabled: true}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], processors: [batch], exporters: [prometheusremotewrite]}
END
  run collector "$collector" --config="$work/collector.yaml"
}

# start_thanos PORT NAME=PROMETHEUS_PORT...: a querier on the port, and a sidecar for each Prometheus of that name.
start_thanos() {
  local port=$1 side=$(($1 + 10)) endpoints=() name
  shift
  for name in "$@"; do
    run "sidecar-${name%=*}" "$thanos" sidecar --prometheus.url="http://127.0.0.1:${name#*=}" \
      --tsdb.path="$work/${name%=*}/data" --grpc-address="127.0.0.1:$side" --http-address="127.0.0.1:$((side + 1))"
    endpoints+=("--endpoint=127.0.0.1:$side")
    side=$((side + 2))
  done
  run querier "$thanos" query "${endpoints[@]}" --query.replica-label=prometheus \
    --grpc-address="127.0.0.1:$((port + 1))" --http-address="127.0.0.1:$port"
  wait_for_url "http://127.0.0.1:$port/-/ready"
}
