#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# tenants.sh [-j JAVA_HOME] [-r ROUNDS] [-s SECONDS] [-o FILE]
#
# Measures what a storm of expensive requests of one tenant does to the other tenants of a web service on virtual
# threads: without a limit, with a limit of concurrent requests, and with a limit of CPU time. Each round runs the
# service three times, with four phases: warm-up, before, storm, and after.
#
#   -j JAVA_HOME  the JDK of the service, 21 or later (default: the newest in /usr/lib/jvm)
#   -r ROUNDS     number of rounds (default: 3)
#   -s SECONDS    length of a phase (default: 15)
#   -o FILE       file for the result (default: dev/integration/results/tenants/storm.md)
#
# With default options, this takes 11 minutes after the build, which installs TaskClock into the local Maven repository.
# Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "tenants.sh: $1" >&2
  exit 2
}

home=
rounds=3
seconds=15
out=$root/dev/integration/results/tenants/storm.md
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -r | -s | -o)
      [[ ${2-} ]] || die "$1: missing value: see tenants.sh --help"
      case $1 in
        -j) home=$2 ;;
        -r) rounds=$2 ;;
        -s) seconds=$2 ;;
        -o) out=$2 ;;
      esac
      shift 2
      ;;
    *) die "$1: unknown argument: see tenants.sh --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "-r $rounds: not a number of rounds"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-s $seconds: not a number of seconds"
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="2[1-9]' /usr/lib/jvm/*/release | sort -V); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 21 or later: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'tenants.sh: the build failed' >&2
  exit 1
}

if [[ ! ${TENANTS_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl agent -am
  build -f "$root/dev/integration/pom.xml" package -pl load,tenants
fi
mkdir -p "$(dirname -- "$out")"
"$home/bin/java" --enable-native-access=ALL-UNNAMED -cp "$here/target/classes:$here/target/lib/*" \
  org.taskclock.integration.tenants.StormTest "$home/bin/java" "$root/agent/target/taskclock-agent.jar" \
  "$rounds" "$seconds" "$out"
