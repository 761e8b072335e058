#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# flink.sh [-j JAVA_HOME] [-o FILE]
#
# Compares the CPU time of Flink's tasks on all their threads with Flink's busy time and the kernel's clocks.
#
#   -j JAVA_HOME  JDK 17 or later (default: JDK 17 in /usr/lib/jvm)
#   -o FILE       file for the result (default: dev/integration/results/flink/tasks.md)
#
# Takes three to five minutes after the build, which downloads Flink and installs TaskClock locally.
# Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "flink.sh: $1" >&2
  exit 2
}

home=
out=$root/dev/integration/results/flink/tasks.md
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{/^set/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -o)
      [[ ${2-} ]] || die "$1: missing value: see flink.sh --help"
      if [[ $1 == -j ]]; then home=$2; else out=$2; fi
      shift 2
      ;;
    *) die "$1: unknown argument: see flink.sh --help" ;;
  esac
done
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="17' /usr/lib/jvm/*/release); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 17: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'flink.sh: the build failed' >&2
  exit 1
}

if [[ ! ${FLINK_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl clock -am
  build -f "$root/dev/integration/pom.xml" package -pl flink
fi
mkdir -p "$(dirname -- "$out")"

# Flink's serializers need this: see its default env.java.opts.all.
"$home/bin/java" --add-opens=java.base/java.util=ALL-UNNAMED -Xmx1g -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
  -cp "$here/target/classes:$here/target/lib/*" org.taskclock.integration.flink.TaskCpuTest "$out"
