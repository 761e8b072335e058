#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# run.sh [-n NAME] [-r ROUNDS] [-g BACKEND] [-c] [JAVA_HOME...] [-- JMH options]
#
# Runs all benchmarks on each JDK (default: every JDK 17 or later in /usr/lib/jvm) and writes the results to
# results/NAME (default: local). JMH's complete output goes to target/run/NAME. Builds the jar if it is missing or older
# than its sources.
#
# -g forces a backend (default: the best usable one). Three rounds (-r) take about nine minutes per JDK, and
# CadenceBenchmark another six. -c runs only CadenceBenchmark. JMH options, such as the name of a benchmark, select
# benchmarks.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

die() {
  echo "run.sh: $1" >&2
  exit 1
}

# property NAME HOME: reads a property from the JDK's "release" file.
property() {
  sed -n "s/^$1=\"\(.*\)\"/\1/p" "$2/release"
}

is_usable() {
  [[ -x $1/bin/java && -r $1/release ]] || return 1
  local version
  version=$(property JAVA_VERSION "$1")
  ((${version%%[!0-9]*} >= 17))
}

name=local
rounds=3
backend=
homes=()
jmh=()
cadence_only=
while (($#)); do
  case $1 in
    -n) name=${2:?} && shift 2 ;;
    -g) backend=${2:?} && shift 2 ;;
    -c) cadence_only=yes && shift ;;
    -r) rounds=${2:?} && shift 2 ;;
    --) shift && jmh=("$@") && break ;;
    -*) die "$1: unknown option: see the first lines of this file" ;;
    *)
      is_usable "$1" || die "$1: not a JDK 17 or later: specify a directory that contains bin/java"
      homes+=("$(readlink -f "$1")")
      shift
      ;;
  esac
done
if ((${#homes[@]} == 0)); then
  while read -r home; do
    if is_usable "$home"; then homes+=("$home"); fi
  done < <(readlink -f /usr/lib/jvm/* | sort -u)
fi
((${#homes[@]})) || die 'no JDK 17 or later in /usr/lib/jvm: specify one as an argument'

jar=$PWD/target/taskclock-lab.jar
out=results/$name
output=target/run/$name
[[ ! -e $out ]] || die "$out: already exists: choose another name with -n, or remove it"
sources=(../pom.xml ../{clock,agent,metrics,metrics/bindings,monitor,report,lab/options,lab}/{pom.xml,src/main})
if [[ ! -f $jar || $(find "${sources[@]}" -type f -newer "$jar" -print -quit) ]]; then
  (cd .. && mvn -B -q -DskipTests package -pl lab -am) || die 'the build failed'
fi
rm -rf "$output"
mkdir -p "$out" "$output"

# line TEXT FILE: prints a line with the content of the file if it is readable.
line() {
  if [[ -r $2 ]]; then echo "- $1: $(<"$2")"; fi
}

machine() {
  local cpu=/sys/devices/system/cpu
  echo "- CPU: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors"
  if grep -qw hypervisor /proc/cpuinfo; then echo '- a virtual machine'; fi
  echo "- kernel: $(uname -srm)"
  echo "- C library: $(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'not glibc')"
  line 'clock source' /sys/devices/system/clocksource/clocksource0/current_clocksource
  line 'frequency governor' $cpu/cpu0/cpufreq/scaling_governor
  line 'processors with precise accounting' $cpu/nohz_full
  if [[ ${GLIBC_TUNABLES-} ]]; then echo "- GLIBC_TUNABLES: $GLIBC_TUNABLES"; fi
  line 'return from system calls' $cpu/vulnerabilities/spec_rstack_overflow
  echo "- TaskClock: $(git describe --always --dirty 2>/dev/null || echo unknown)"
  echo "- rounds: $rounds${jmh[*]:+, JMH options: ${jmh[*]}}"
  echo "- started: $(date -u +'%F %R UTC'), load $(cut -d' ' -f1-3 /proc/loadavg)"
}

# Removes local paths from the results.
without_paths() {
  sed -i -e "s:$home/bin/java:java:g" -e "s:$jar:taskclock-lab.jar:g" -e "s:$home:JAVA_HOME:g" \
    -e "s:file\:[^ )]*/:file\::g" "$@"
}

machine >"$out/machine.md"
jsons=()
for home in "${homes[@]}"; do
  label=jdk-$(property JAVA_VERSION "$home")
  [[ ! -e $output/$label.txt ]] || label+=-$(property IMPLEMENTOR "$home" | tr -cd '[:alnum:]')
  java=("$home/bin/java" --enable-native-access=ALL-UNNAMED)
  # Force the backend in each JVM, so that none uses another, and JMH records it.
  in_use=$("${java[@]}" ${backend:+-Dtaskclock.backend="$backend"} -cp "$jar" org.taskclock.benchmarks.FirstReading |
    sed -n 3p) ||
    die "$home: the backend is not usable: see above"
  java+=(-Dtaskclock.backend="$in_use")
  echo "run.sh: $label, backend $in_use" >&2
  "$home/bin/java" -version 2>"$output/$label.txt"
  # Run round by round, so that a temporary disturbance does not affect all forks of one benchmark.
  for round in $([[ $cadence_only ]] || seq "$rounds"); do
    json=$label-$round.json
    version=$(property JAVA_VERSION "$home")
    options=(-prof gc -rf json -rff "$output/$json" "${jmh[@]}")
    ((${version%%[!0-9]*} >= 21)) || options+=(-e MountBenchmark)
    "${java[@]}" -cp "$jar" org.openjdk.jmh.Main "${options[@]}" >>"$output/$label.txt" 2>&1 ||
      die "JMH failed: see $PWD/$output/$label.txt"
    "${java[@]}" -cp "$jar" org.taskclock.benchmarks.JmhSummary "$output/$json" >"$out/$json"
    jsons+=("$out/$json")
  done
  java+=(-cp "$jar")
  if ((${#jmh[@]} == 0)) && [[ ! $cadence_only ]]; then
    "${java[@]}" org.taskclock.benchmarks.AccuracyBenchmark --markdown >"$out/$label-accuracy.md"
    "${java[@]}" org.taskclock.benchmarks.SafepointBenchmark --markdown >"$out/$label-safepoints.md"
    "${java[@]}" org.taskclock.benchmarks.SwitchBenchmark --markdown >"$out/$label-switches.md"
    "${java[@]}" org.taskclock.benchmarks.StartUpBenchmark --markdown >"$out/$label-startup.md"
  fi
  if ((${#jmh[@]} == 0)); then
    # Do not force the backend: selecting it is part of the cost of the first reading in a process.
    cadence=("$home/bin/java" --enable-native-access=ALL-UNNAMED ${backend:+-Dtaskclock.backend="$backend"} -cp "$jar")
    cadence+=(org.taskclock.benchmarks.CadenceBenchmark)
    if [[ $in_use != mxbean ]]; then
      "${cadence[@]}" --forks "$rounds" --json >"$out/$label-cadence.json"
      "${cadence[@]}" --from "$out/$label-cadence.json" --markdown >"$out/$label-cadence.md"
    fi
  fi
  files=("$out/$label"-*)
  if [[ -e ${files[0]} ]]; then without_paths "${files[@]}"; fi
  runtime=$("$home/bin/java" -version 2>&1 | sed -n 2p)
  echo "- $label: backend $in_use, $(property IMPLEMENTOR "$home"), $runtime" >>"$out/machine.md"
done
echo "- ended: $(date -u +'%F %R UTC'), load $(cut -d' ' -f1-3 /proc/loadavg)" >>"$out/machine.md"
if ((${#jsons[@]})); then "${java[@]}" org.taskclock.benchmarks.Goals "${jsons[@]}" >"$out/goals.md"; fi
echo "run.sh: results are in $PWD/$out" >&2
