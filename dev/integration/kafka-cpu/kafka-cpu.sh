#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# kafka-cpu.sh [-j JAVA_HOME] [-o FILE] [-s SECONDS]
#
# Patches Kafka's request handler, counts the CPU time of its threads by request type, client id, and topic, and
# compares it with the kernel's clocks and with what Kafka's request quota measures.
#
#   -j JAVA_HOME  JDK 17 or later (default: JDK 17 in /usr/lib/jvm)
#   -o FILE       file for the result (default: dev/integration/results/kafka/requests.md)
#   -s SECONDS    measured time of each of the six phases (default: 10)
#
# Takes five minutes after the build, which downloads Kafka and the Scala compiler and installs TaskClock locally.
# Needs root, or another way to write to the cgroup hierarchy, for the CPU limit.
# Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "kafka-cpu.sh: $1" >&2
  exit 2
}

home=
out=$root/dev/integration/results/kafka/requests.md
seconds=10
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{/^set/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -o | -s)
      [[ ${2-} ]] || die "$1: missing value: see kafka-cpu.sh --help"
      case $1 in
        -j) home=$2 ;;
        -o) out=$2 ;;
        -s) seconds=$2 ;;
      esac
      shift 2
      ;;
    *) die "$1: unknown argument: see kafka-cpu.sh --help" ;;
  esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-s $seconds: not a number of seconds"
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="17' /usr/lib/jvm/*/release); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 17: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'kafka-cpu.sh: the build failed' >&2
  exit 1
}

if [[ ! ${KAFKA_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl clock -am
  build -f "$root/dev/integration/pom.xml" package -pl kafka-cpu
fi
mkdir -p "$(dirname -- "$out")"

# The patched classes are first on the class path; the broker without the patch gets only the second part.
exec "$home/bin/java" -Xmx512m -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$here/target/classes:$here/target/lib/*" \
  org.taskclock.integration.kafka.KafkaCpuTest "$out" "$seconds" "$here/target/lib/*"
