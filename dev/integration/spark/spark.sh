#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# spark.sh [-j JAVA_HOME] [-o FILE]
#
# Compares the CPU time of Spark's tasks on all their threads with Spark's own figure and the kernel's.
#
#   -j JAVA_HOME  JDK 17 or 21 (default: JDK 17 in /usr/lib/jvm)
#   -o FILE       file for the result (default: dev/integration/results/spark/tasks.md)
#
# Takes two to six minutes after the build, which downloads Spark and installs TaskClock locally.
# Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "spark.sh: $1" >&2
  exit 2
}

home=
out=$root/dev/integration/results/spark/tasks.md
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -o)
      [[ ${2-} ]] || die "$1: missing value: see spark.sh --help"
      if [[ $1 == -j ]]; then home=$2; else out=$2; fi
      shift 2
      ;;
    *) die "$1: unknown argument: see spark.sh --help" ;;
  esac
done
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="17' /usr/lib/jvm/*/release); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 17: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'spark.sh: the build failed' >&2
  exit 1
}

if [[ ! ${SPARK_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl clock -am
  build -f "$root/dev/integration/pom.xml" package -pl spark
fi
mkdir -p "$(dirname -- "$out")"

# Spark 4 needs these on JDK 17: see its JavaModuleOptions.
opens=()
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent \
  java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
SPARK_LOCAL_IP=127.0.0.1 "$home/bin/java" "${opens[@]}" -Xmx1g \
  -cp "$here/target/classes:$here/target/lib/*" org.taskclock.integration.spark.TaskCpuTest "$out"
