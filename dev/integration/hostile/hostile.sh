#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# hostile.sh [-s SECONDS] [-t THREADS] [-j JAVA_HOME] [-o FILE] [SCENARIO...]
#
# Runs exporter and serve beside JVMs that try to mislead, block, or exhaust them, and beside five honest ones. Compares
# the CPU time of the honest JVMs with pidstat, and checks the time of each answer, memory, threads, and files.
#
#   -s SECONDS    how long to measure (default: 600). Below 60, the bounds are those of the test HostileTest.
#   -t THREADS    how many threads the JVM with short threads starts per second, if it can (default: 20000)
#   -j JAVA_HOME  the JDK of all JVMs (default: that of java)
#   -o FILE       file for the result (default: dev/integration/results/hostile/JDK.md; none below 60 s)
#   SCENARIO...   only these, such as fifo-release; with "each", one run for each (default: all of
#                 cli/src/test/java/org/taskclock/hostile/Scenario.java)
#
# As root, everything runs in its own namespaces of processes and mounts, so that it ends with this script. Without
# root, some scenarios are omitted. Requires pidstat, a JDK, and Maven. Exit codes: 0 all bounds are met, 1 a bound is
# missed, or failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "hostile.sh: $1" >&2
  exit "${2:-1}"
}

seconds=600
threads=20000
home=${JAVA_HOME-}
out=
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -s | -t | -j | -o)
      [[ ${2-} ]] || die "$1: missing value: see hostile.sh --help" 2
      case $1 in -s) seconds=$2 ;; -t) threads=$2 ;; -j) home=$2 ;; -o) out=$2 ;; esac
      shift 2
      ;;
    -*) die "$1: unknown option: see hostile.sh --help" 2 ;;
    *) break ;;
  esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-s $seconds: not a number of seconds" 2
[[ $threads =~ ^[1-9][0-9]*$ ]] || die "-t $threads: not a number of threads" 2
java=${home:+$home/bin/}java
command -v "$java" >/dev/null || die "$java: not found: specify a JDK with -j" 2
((seconds < 60)) || command -v pidstat >/dev/null || die 'pidstat is not installed (Debian: apt install sysstat)'
scenarios=("${@:-all}")

if [[ -z ${SKIP_BUILD-} ]]; then
  options=(-B -q -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true -pl cli -am)
  (cd "$root" && mvn "${options[@]}" package) || die 'the build failed'
fi
jar=$root/cli/target/taskclock-cli.jar
classes=$root/cli/target/test-classes
work=$root/cli/target/hostile
rm -rf "$work"
mkdir -p "$work"

prefix=()
if [[ $(id -u) == 0 ]]; then
  prefix=(unshare --pid --mount --fork --mount-proc --kill-child sh -c)
  # A /tmp of its own, unless what is run is there.
  if [[ $root == /tmp/* || $(readlink -f "$(command -v "$java")") == /tmp/* ]]; then
    prefix+=('exec "$@"' sh)
  else
    prefix+=('mount -t tmpfs none /tmp && exec "$@"' sh)
  fi
fi

machine() {
  echo '# Exporter and serve beside hostile JVMs'
  echo
  echo "- CPU: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors"
  if grep -qw hypervisor /proc/cpuinfo; then echo '- a virtual machine'; fi
  echo "- kernel: $(uname -srm)"
  echo "- $("$java" -version 2>&1 | sed -n 2p)"
  echo "- TaskClock: $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
  echo "- flags: hostile.sh -s $seconds -t $threads ${scenarios[*]}; exporter with a heap of 96 MB, serve with 128 MB"
  echo "- started: $(date -u +'%F %R UTC'), load $(cut -d' ' -f1-3 /proc/loadavg)"
  echo
}

result=$work/result.md
machine | tee "$result"
status=0
"${prefix[@]}" "$java" -cp "$classes:$jar" org.taskclock.hostile.HostileReport "$jar" "$work" "$seconds" "$threads" \
  "${scenarios[@]}" | tee -a "$result" || status=$?
if [[ -z $out ]] && ((seconds >= 60)); then
  version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.version = //p')
  out=$here/../results/hostile/jdk-$version.md
fi
if [[ $out ]]; then
  mkdir -p "$(dirname -- "$out")"
  cp "$result" "$out"
  echo "hostile.sh: the result is $out" >&2
fi
exit "$status"
