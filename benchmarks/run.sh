#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# run.sh [-n NAME] [-r ROUNDS] [-g RUNG] [-c] [JAVA_HOME...] [-- JMH options]
#
# Runs all benchmarks on each JDK (without arguments: on every JDK 17 and later under /usr/lib/jvm) and writes what they
# say to results/DATE-NAME. On the best rung that is usable, or that named by -g. Three rounds, some nine minutes for each JDK, and
# six more for CadenceBenchmark.
# With JMH options, as a benchmark's name, only what these choose; with -c only CadenceBenchmark.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

die() {
  echo "run.sh: $1" >&2
  exit 1
}

# property NAME HOME: from the "release" file that every JDK has.
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
rung=
homes=()
jmh=()
cadence_only=
while (($#)); do
  case $1 in
    -n) name=${2:?} && shift 2 ;;
    -g) rung=${2:?} && shift 2 ;;
    -c) cadence_only=yes && shift ;;
    -r) rounds=${2:?} && shift 2 ;;
    --) shift && jmh=("$@") && break ;;
    -*) die "$1: no such option: see the first lines of this file" ;;
    *) is_usable "$1" || die "$1: no JDK 17 or later: name a folder that has bin/java" && homes+=("$(readlink -f "$1")") && shift ;;
  esac
done
if ((${#homes[@]} == 0)); then
  while read -r home; do
    if is_usable "$home"; then homes+=("$home"); fi
  done < <(readlink -f /usr/lib/jvm/* | sort -u)
fi
((${#homes[@]})) || die 'no JDK 17 or later under /usr/lib/jvm: name one'

jar=$PWD/target/benchmarks.jar
[[ -f $jar ]] || (cd .. && mvn -B -q -DskipTests package -pl benchmarks -am) || die 'the build failed'

out=results/$(date +%F)-$name
[[ ! -e $out ]] || die "$out: there are results already: give another name by -n, or remove them"
mkdir -p "$out"

# fact TEXT FILE: a line, if there is such a file.
fact() {
  if [[ -r $2 ]]; then echo "- $1: $(<"$2")"; fi
}

machine() {
  local cpu=/sys/devices/system/cpu
  echo "- CPU: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them"
  if grep -qw hypervisor /proc/cpuinfo; then echo '- a virtual machine'; fi
  echo "- kernel: $(uname -srm)"
  echo "- C library: $(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'not glibc')"
  fact 'clock source' /sys/devices/system/clocksource/clocksource0/current_clocksource
  fact 'frequency governor' $cpu/cpu0/cpufreq/scaling_governor
  fact 'CPUs with precise accounting' $cpu/nohz_full
  if [[ ${GLIBC_TUNABLES-} ]]; then echo "- GLIBC_TUNABLES: $GLIBC_TUNABLES"; fi
  fact 'return from system calls' $cpu/vulnerabilities/spec_rstack_overflow
  echo "- started: $(date -u +'%F %R UTC'), load $(cut -d' ' -f1-3 /proc/loadavg)"
}

# Where the JDK and the jar lie is of no interest to others.
without_paths() {
  sed -i -e "s:$home/bin/java:java:g" -e "s:$jar:benchmarks.jar:g" -e "s:$home:JAVA_HOME:g" -e "s:file\:[^ )]*/:file\::g" "$@"
}

machine >"$out/machine.md"
jsons=()
for home in "${homes[@]}"; do
  label=jdk-$(property JAVA_VERSION "$home")
  [[ ! -e $out/$label.txt ]] || label+=-$(property IMPLEMENTOR "$home" | tr -cd '[:alnum:]')
  java=("$home/bin/java" --enable-native-access=ALL-UNNAMED)
  # Each JVM is told its rung, and so can neither take another nor leave it out of JMH's results.
  in_use=$("${java[@]}" ${rung:+-Dtaskclock.rung="$rung"} -cp "$jar" org.taskclock.benchmarks.RungInUse) ||
    die "$home: the rung cannot be used: see above"
  java+=(-Dtaskclock.rung="$in_use")
  echo "run.sh: $label, rung $in_use" >&2
  "$home/bin/java" -version 2>"$out/$label.txt"
  # Round by round, so that what disturbs the machine for a while does not hit all forks of one benchmark.
  for round in $([[ $cadence_only ]] || seq "$rounds"); do
    json=$out/$label-$round.json
    version=$(property JAVA_VERSION "$home")
    options=(-prof gc -rf json -rff "$json" "${jmh[@]}")
    ((${version%%[!0-9]*} >= 21)) || options+=(-e Mounts)
    echo "java ${java[*]:1} -jar benchmarks.jar ${options[*]}" >>"$out/$label.txt"
    "${java[@]}" -jar "$jar" "${options[@]}" >>"$out/$label.txt" 2>&1 || die "JMH failed: see $out/$label.txt"
    jsons+=("$json")
  done
  java+=(-cp "$jar")
  if ((${#jmh[@]} == 0)) && [[ ! $cadence_only ]]; then
    "${java[@]}" org.taskclock.benchmarks.Accuracy --markdown >"$out/$label-accuracy.md"
    "${java[@]}" org.taskclock.benchmarks.Safepoints --markdown >"$out/$label-safepoints.md"
    "${java[@]}" org.taskclock.benchmarks.Switches --markdown >"$out/$label-switches.md"
    "${java[@]}" org.taskclock.benchmarks.StartUp --markdown >"$out/$label-startup.md"
  fi
  if ((${#jmh[@]} == 0)); then
    # Not told its rung: finding it is part of what the first reading of a process takes.
    cadence=("$home/bin/java" --enable-native-access=ALL-UNNAMED ${rung:+-Dtaskclock.rung="$rung"} -cp "$jar")
    cadence+=(org.taskclock.benchmarks.CadenceBenchmark)
    if [[ $in_use != mxbean ]]; then
      "${cadence[@]}" --forks "$rounds" --json >"$out/$label-cadence.json"
      "${cadence[@]}" --from "$out/$label-cadence.json" --markdown >"$out/$label-cadence.md"
    fi
  fi
  without_paths "$out/$label".txt "$out/$label"-*
  echo "- $label: rung $in_use, $(property IMPLEMENTOR "$home"), $("$home/bin/java" -version 2>&1 | sed -n 2p)" >>"$out/machine.md"
done
echo "- ended: $(date -u +'%F %R UTC'), load $(cut -d' ' -f1-3 /proc/loadavg)" >>"$out/machine.md"
if ((${#jsons[@]})); then "${java[@]}" org.taskclock.benchmarks.Goals "${jsons[@]}" >"$out/goals.md"; fi
echo "run.sh: see $PWD/$out" >&2
