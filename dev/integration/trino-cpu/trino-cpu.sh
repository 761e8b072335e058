#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# trino-cpu.sh [-j JAVA_HOME] [-o FILE] [-w WORKERS]
#
# Compares the CPU time of Trino's queries, stages, and operators on platform and virtual threads with mounted time and
# with the kernel's, and measures what user time for each operator costs.
#
#   -j JAVA_HOME  JDK 25 (default: JDK 25 in /usr/lib/jvm)
#   -o FILE       file for the result (default: dev/integration/results/trino/cpu.md)
#   -w WORKERS    how many drivers may run at a time; measures only Trino's own figures and the accounts, at scale 0.01
#
# Takes ten minutes after the build, which downloads Trino, applies the patches here to its sources, and installs
# TaskClock locally. Needs gcc and patch. Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "trino-cpu.sh: $1" >&2
  exit 2
}

home=
workers=
out=$root/dev/integration/results/trino/cpu.md
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -o | -w)
      [[ ${2-} ]] || die "$1: missing value: see trino-cpu.sh --help"
      case $1 in
        -j) home=$2 ;;
        -o) out=$2 ;;
        -w) workers=$2 ;;
      esac
      shift 2
      ;;
    *) die "$1: unknown argument: see trino-cpu.sh --help" ;;
  esac
done
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="25' /usr/lib/jvm/*/release); do home=${release%/release}; done
fi
[[ -x $home/bin/javac ]] || die "${home:-/usr/lib/jvm}: no JDK 25: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'trino-cpu.sh: the build failed' >&2
  exit 1
}

if [[ ! ${TRINO_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl clock -am
  build -f "$root/pom.xml" package -pl agent -am
  JAVA_HOME=$home build -f "$root/dev/integration/pom.xml" package -pl trino-cpu
fi

# patched NAME PATCH...: compiles the patched classes of Trino to target/patched/NAME.
main=core/trino-main/src/main/java
patched() {
  local target=$here/target/patched/$1 patch
  rm -rf "$target"
  mkdir -p "$target/classes" "$target/$main"
  (cd "$target/$main" && "$home/bin/jar" xf "$here"/target/sources/trino-main-*-sources.jar \
    io/trino/execution/executor/{scheduler/FairScheduler,dedicated/SplitProcessor}.java \
    io/trino/operator/{Driver,OperationTimer,OperatorContext}.java)
  # The server for tests does not let its configuration change this.
  sed -i 's/Reservation<>(maxConcurrentTasks)/Reservation<>(Integer.getInteger("workers", maxConcurrentTasks))/' \
    "$target/$main/io/trino/execution/executor/scheduler/FairScheduler.java"
  for patch in "${@:2}"; do patch -s -d "$target" -p1 <"$here/$patch.patch"; done
  "$home/bin/javac" -nowarn -XDignore.symbol.file -d "$target/classes" -cp "$here/target/classes:$here/target/lib/*" \
    $(find "$target/$main" -name '*.java')
}
patched platform
patched virtual virtual-drivers
patched taskclock virtual-drivers operator-cpu operator-user
patched accounts virtual-drivers accounts
patched measure virtual-drivers operator-cpu operator-user measure

mkdir -p "$(dirname -- "$out")"
"$home/bin/java" --sun-misc-unsafe-memory-access=allow -Dagent="$root/agent/target/taskclock-agent.jar" \
  -Dmodule="$here" ${workers:+-Dworkers="$workers"} -cp "$here/target/classes:$here/target/lib/*" org.taskclock.integration.trinocpu.TrinoCpuTest "$out"
