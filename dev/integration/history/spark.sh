#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# spark.sh [-o FILE]
#
# Exports the histories of three hosts as Parquet, and asks Spark on a local cluster of two workers and DuckDB the same
# questions about them. Maven downloads Spark, 400 MB, on the first run.
#
#   -o FILE  file for the output (default: dev/integration/results/history/spark.txt)
#
# Requires JDK 17. Builds the command line if necessary. Exit codes: 0 the answers are the same, 1 they
# differ or a step failed, 2 usage error.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*/*}
out=$root/dev/integration/results/history/spark.txt
while (($#)); do
  case $1 in
    -h | --help) sed -n '5,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -o)
      [[ ${2-} ]] || { echo "spark.sh: -o: missing value: see spark.sh --help" >&2; exit 2; }
      out=$2
      shift 2
      ;;
    *) echo "spark.sh: $1: unknown option: see spark.sh --help" >&2; exit 2 ;;
  esac
done
"$root/taskclock" --version > /dev/null # builds the jar if it is missing or older than its sources
jar=$root/cli/target/taskclock-cli.jar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

spark=${SPARK_CLASSPATH_FILE:-$work/spark.txt}
[[ -r $spark ]] || mvn -B -q -f "$here/pom.xml" dependency:build-classpath -Dmdep.outputFile="$spark"
mkdir -p "$work/classes" "$work/data" "$(dirname -- "$out")"
javac -d "$work/classes" -cp "$jar:$(cat "$spark")" "$here"/*.java

# Spark 4 needs these on JDK 17: see its JavaModuleOptions.
opens=()
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent \
  java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
export SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1 SPARK_HOME=$work
# The workers expect the layout of a Spark distribution.
mkdir "$work/jars"
tr ':' '\n' < "$spark" | xargs -I{} ln -s {} "$work/jars/"
cd "$work" # for the files of the workers
{
  java -cp "classes:$jar" ThreeHosts "$work/data" "$work/export"
  java "${opens[@]}" -cp "classes:$(cat "$spark"):$jar" CompareEngines "$work/export" 2> spark.log ||
    { grep -v " INFO " spark.log | head -n 40 >&2; exit 1; }
} | tee "$out"
