#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# soak.sh ENGINE [-j JAVA_HOME] [-o DIRECTORY] [-- OPTION...]
#
# Runs a soak test of the agent in a real engine: kafka, jetty, jetty-servlets, trino, or spring. Builds what is missing
# or older than its sources, runs the engine under load without and with the agent, and writes ENGINE.json and
# ENGINE.md.
#
#   -j JAVA_HOME  the JDK to run the engine on (default: the newest in /usr/lib/jvm); trino needs JDK 24 or later,
#                 the others 21
#   -o DIRECTORY  directory for results and logs (default: dev/integration/results/DATE)
#   OPTION        an option of the soak test: --minutes, --groups, --window, ...; "soak.sh jetty -- --help" lists them
#
# With default options, a soak test takes 37 minutes. Exit codes: 0 success, 1 failure, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*}

die() {
  echo "soak.sh: $1" >&2
  exit 2
}
usage() {
  sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
  exit 0
}

engine=
home=
out=$here/results/$(date +%F)
options=()
while (($#)); do
  case $1 in
    -h | --help) usage ;;
    -j | -o)
      [[ ${2-} ]] || die "$1: missing value: see soak.sh --help"
      if [[ $1 == -j ]]; then home=$2; else out=$2; fi
      shift 2
      ;;
    --) shift && options=("$@") && break ;;
    -*) die "$1: unknown option: see soak.sh --help" ;;
    *) [[ ! $engine ]] || die "$1: more than one engine: see soak.sh --help" && engine=$1 && shift ;;
  esac
done

# The heap has a fixed size and is touched at startup, so that only native memory can grow.
jvm=(-Xms768m -Xmx768m)
arguments=()
case $engine in
  jetty | jetty-servlets)
    main=JettyLoad
    [[ $engine == jetty ]] || arguments=(servlets)
    ;;
  spring) main=SpringLoad ;;
  kafka)
    main=KafkaLoad
    data=$(mktemp -d)
    trap 'rm -rf "$data"' EXIT
    arguments=("$data" 19092)
    ;;
  trino)
    main=TrinoLoad
    jvm=(-Xms3g -Xmx3g --add-modules jdk.incubator.vector --sun-misc-unsafe-memory-access=allow)
    # A query takes about a tenth of a second.
    options=(--window 10 --groups 10 "${options[@]}")
    ;;
  '') die 'missing engine: use kafka, jetty, jetty-servlets, trino, or spring' ;;
  *) die "$engine: unknown engine: use kafka, jetty, trino, or spring" ;;
esac
jvm+=(-XX:+AlwaysPreTouch --enable-native-access=ALL-UNNAMED)

if [[ ! $home ]]; then
  for release in $(grep -l '^JAVA_VERSION="2[1-9]' /usr/lib/jvm/*/release | sort -V); do home=${release%/release}; done
fi
[[ -x $home/bin/java ]] || die "${home:-/usr/lib/jvm}: no JDK 21 or later: specify one with -j"

build() {
  mvn -B -q -DskipTests -f "$1/pom.xml" "${@:2}" >&2 && return
  echo 'soak.sh: the build failed' >&2
  exit 1
}

# is_current FILE SOURCE...: succeeds if FILE exists and is newer than all sources.
is_current() {
  [[ -f $1 && ! $(find "${@:2}" -type f -newer "$1" -print -quit) ]]
}

# Build only if necessary: a build replaces the jars of other soak tests that are running.
sources=("$root/pom.xml" "$root"/{clock,agent,lab}/{pom.xml,src/main})
agent=$root/agent/target/taskclock-agent.jar
lab=$root/lab/target/taskclock-lab.jar
if ! is_current "$agent" "${sources[@]}" || ! is_current "$lab" "${sources[@]}"; then
  build "$root" package -pl lab -am
fi
module=${engine%-servlets}
built=$here/$module/target/built
if ! is_current "$built" "$here/pom.xml" "$here"/{load,"$module"}/{pom.xml,src}; then
  build "$here" package -pl "load,$module"
  touch "$built"
fi
commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)

"$home/bin/java" --enable-native-access=ALL-UNNAMED -cp "$lab" org.taskclock.soak.EngineSoak \
  --name "$engine" --java "$home/bin/java" --agent "$agent" --commit "$commit" --out "$out" "${options[@]}" \
  -- "${jvm[@]}" -cp "$here/$module/target/classes:$here/$module/target/lib/*" \
  "org.taskclock.integration.$main" "${arguments[@]}"
