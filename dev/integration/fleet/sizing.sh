#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# sizing.sh [-o DIRECTORY]
#
# Measures what Prometheus needs to store the metrics of JVMs, and calculates from that what fleets of 10, 1,000, and
# 100,000 JVMs need. The metrics are those of SyntheticFleet.java. Writes sizing.txt.
#
#   -o DIRECTORY  directory for the results (default: dev/integration/results/fleet)
#
# Requires prometheus, promtool, java, curl, jq, and zstd. Takes about ten minutes. Exit codes: 0 success, 1 failure,
# 2 usage error.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
BLOCK_JVMS=20
HOURS=6
HEAD_JVMS=(100 400)
HEAD_SECONDS=180
SCRAPE=10

parse -o=out -- "$@"
require prometheus promtool java javac curl jq zstd
begin sizing.txt

compile SyntheticFleet.java
synthetic() {
  java -Xmx512m -cp "$work/classes" SyntheticFleet "$@"
}

say "$(version prometheus)"
say
say "Measured: blocks of $HOURS hours, $BLOCK_JVMS JVMs, a sample each 15 s"
synthetic openmetrics "$BLOCK_JVMS" "$HOURS" >"$work/samples.txt"
promtool tsdb create-blocks-from openmetrics --max-block-duration=24h "$work/samples.txt" "$work/blocks" >/dev/null
rm "$work/samples.txt"
# sum FILTER: the sum over all blocks.
sum() {
  cat "$work"/blocks/*/meta.json | jq -s "map($1) | add"
}
size() {
  cat "$work"/blocks/*/$1 | wc -c
}
samples=$(sum .stats.numSamples)
series=$(sum .stats.numSeries)
blocks=$(find "$work/blocks" -name meta.json | wc -l)
chunks=$(size 'chunks/*')
index=$(size index)
series_per_jvm=$((series / blocks / BLOCK_JVMS))
sample_bytes=$(awk -v c="$chunks" -v n="$samples" 'BEGIN { printf "%.2f", c / n }')
index_bytes=$(awk -v c="$index" -v n="$series" 'BEGIN { printf "%.0f", c / n }')
say "  samples $samples, series per JVM $series_per_jvm, blocks $blocks"
say "  bytes per sample in chunks: $sample_bytes"
say "  bytes per series and block in the index: $index_bytes"

say
say "Measured: memory of a Prometheus after $HEAD_SECONDS s of scrapes each $SCRAPE s, without queries"
port=19470
rss=()
rules=()
heads=()
for jvms in "${HEAD_JVMS[@]}"; do
  run serve java -Xmx512m -cp "$work/classes" SyntheticFleet serve "$jvms" "$port"
  target=$started
  start_prometheus "prometheus-$jvms" $((port + 1)) "127.0.0.1:$port"
  server=$started
  sleep "$HEAD_SECONDS"
  head=$(curl -fsS "http://127.0.0.1:$((port + 1))/metrics" | awk '$1 == "prometheus_tsdb_head_series" { print $2 }')
  rss+=("$(($(resident "$server") << 20))")
  heads+=("$(printf '%.0f' "$head")")
  wal=$(du -sb "$work/prometheus-$jvms/data/wal" | cut -f1)
  say "  $jvms JVMs: ${heads[-1]} series, resident $((rss[-1] >> 20)) MiB, write-ahead log $((wal >> 20)) MiB"
  stop "$server" "$target"
  port=$((port + 2))
done
((heads[1] > heads[0])) || die 'Prometheus has scraped too few series'
series_memory=$(((rss[1] - rss[0]) / (heads[1] - heads[0])))
say "  bytes of memory per series: $series_memory"

say
say 'Measured: the same samples as columns (differences of times, then values), compressed with zstd -1, as a stand-in'
columns=$(synthetic columns "$BLOCK_JVMS" "$HOURS" | zstd -1 -c | wc -c)
column_bytes=$(awk -v c="$columns" -v n="$samples" 'BEGIN { printf "%.2f", c / n }')
say "  bytes per sample: $column_bytes"

say
say 'Calculated: a sample each 15 s, 15 days'
awk -v per="$series_per_jvm" -v sample="$sample_bytes" -v index_bytes="$index_bytes" -v memory="$series_memory" \
  -v column="$column_bytes" 'BEGIN {
  format = "%9s %12s %11s %12s %12s %14s\n"
  printf format, "JVMs", "series", "samples/s", "memory GB", "disk GB", "columns GB"
  for (jvms = 10; jvms <= 100000; jvms *= 100) {
    series = jvms * per
    rate = series / 15
    # Prometheus merges blocks up to a tenth of the retention: 36 hours.
    disk = rate * 86400 * 15 * sample + series * index_bytes * 10
    printf format, jvms, series, sprintf("%.0f", rate), sprintf("%.2f", series * memory / 1e9),
      sprintf("%.2f", disk / 1e9), sprintf("%.2f", rate * 86400 * 15 * column / 1e9)
  }
}' | tee -a "$work/sizing.txt"
cp "$work/sizing.txt" "$out/sizing.txt"
