#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# opensearch.sh [-j JAVA_HOME] [-o FILE]
#
# Compares OpenSearch's figures for the CPU time of its tasks with the kernel's, and measures what they cost: without
# and with the agent, and with clock.patch and start.patch. With accounts.patch, counts it by client.
#
#   -j JAVA_HOME  JDK 21 or later (default: the newest in /usr/lib/jvm); only JDK 25 and later count the readings
#   -o FILE       file for the result (default: dev/integration/results/opensearch/tasks.md)
#
# Takes 14 minutes after the build, which downloads OpenSearch and installs TaskClock locally.
# Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}

die() {
  echo "opensearch.sh: $1" >&2
  exit 2
}

home=
out=$root/dev/integration/results/opensearch/tasks.md
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -j | -o)
      [[ ${2-} ]] || die "$1: missing value: see opensearch.sh --help"
      if [[ $1 == -j ]]; then home=$2; else out=$2; fi
      shift 2
      ;;
    *) die "$1: unknown argument: see opensearch.sh --help" ;;
  esac
done
if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="2[1-9]' /usr/lib/jvm/*/release | sort -V); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 21 or later: specify one with -j"

build() {
  mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -Dcheckstyle.skip=true "$@" >&2 && return
  echo 'opensearch.sh: the build failed' >&2
  exit 1
}

target=$here/target
if [[ ! ${OPENSEARCH_BUILT-} ]]; then
  build -f "$root/pom.xml" install -pl agent -am
  build -f "$root/dev/integration/pom.xml" package -pl opensearch
fi

# Compiles the patched class into a directory, which comes before OpenSearch's jar on the class path.
compile() {
  local class sources=$target/$1/server/src/main/java
  class=$(sed -n 's,^+++ b/server/src/main/java/,,p' "$here/$1")
  rm -rf "${target:?}/$1"
  mkdir -p "$sources" "$target/$1/classes"
  unzip -q "$target"/sources/opensearch-*-sources.jar "$class" -d "$sources"
  patch -s -p1 -d "$target/$1" <"$here/$1"
  "$home/bin/javac" -proc:none -nowarn --release 21 -cp "$target/lib/*" -d "$target/$1/classes" "$sources/$class"
}

# run PATCH OPTION...
run() {
  "$home/bin/java" "${@:2}" -Xms1500m -Xmx1500m -XX:+ExitOnOutOfMemoryError --add-modules jdk.incubator.vector \
    --enable-native-access=ALL-UNNAMED -cp "${1:+$target/$1/classes:}$target/classes:$target/lib/*" \
    org.taskclock.integration.opensearch.OpenSearchTest "$out.new" ${1:+"$1"}
}

mkdir -p "$(dirname -- "$out")"
rm -f "$out.new"
trap 'rm -f "$out.new"' EXIT
for patch in clock.patch start.patch accounts.patch; do compile "$patch"; done
run '' "-javaagent:$root/agent/target/taskclock-agent.jar"
for patch in clock.patch start.patch accounts.patch; do run "$patch"; done
mv "$out.new" "$out"
