#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# zoo-tools.sh PID
#
# Asks other tools about a JVM, for "taskclock experiment zoo --tools". Prints a heading "== TOOL" for each, and below
# it lines with a percentage, a space, and a text, the most important first. Leaves out tools that it does not find:
#
# ASYNC_PROFILER  libasyncProfiler.so
# JFR_HOME        a JDK 21 or later, for "jfr view"
# JMC             class path of JDK Mission Control's rules and what they depend on
# ARTHAS          directory that contains arthas-boot.jar, arthas-core.jar, and so on
set -euo pipefail

pid=$1
home=$(dirname -- "$(dirname -- "$(readlink -f "/proc/$pid/exe")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds=4
rows=3

# Prints the heading of a tool, runs it, and goes on if it fails.
ask() {
  echo "== $1"
  "${@:2}" || echo "zoo-tools.sh: $1 failed" >&2
}

jcmd() {
  "$home/bin/jcmd" "$pid" "$@" >&2
}

# The threads with the most CPU time.
pidstat_threads() {
  LC_ALL=C pidstat -t -p "$pid" "$seconds" 1 |
    awk '/^Average/ && $4 ~ /^[0-9]+$/ { name = $11; for (i = 12; i <= NF; i++) name = name " " $i; print $9, name }' |
    sort -rn | sed "${rows}q"
}

# The methods, stacks, and threads with the most samples of CPU time.
async_profiler() {
  jcmd JVMTI.agent_load "$ASYNC_PROFILER" '"start,event=cpu,threads"'
  sleep "$seconds"
  jcmd JVMTI.agent_load "$ASYNC_PROFILER" "\"stop,threads,collapsed,file=$work/collapsed\""
  awk -v rows="$rows" '
    {
      count = $NF
      sub(/ [0-9]+$/, "")
      total += count
      frames = split($0, frame, ";")
      thread[frame[1]] += count
      method[frame[frames]] += count
      calls = frame[frames]
      for (i = frames - 1; i > 1; i--) calls = calls " < " frame[i]
      stack[calls] += count
    }
    function top(counts, n, best, each) {
      for (n = 0; n < rows; n++) {
        best = ""
        for (each in counts) if (best == "" || counts[each] > counts[best]) best = each
        if (best == "") return
        printf "%.1f %s\n", 100 * counts[best] / total, best
        delete counts[best]
      }
    }
    END { if (total > 0) { top(method); top(stack); top(thread) } }' "$work/collapsed"
}

# The first rows of the views that "jfr view" offers for such problems, from a recording with the settings "profile".
flight_recorder() {
  jcmd JFR.start name=zoo settings=profile
  sleep $((seconds + 1))
  jcmd JFR.dump name=zoo filename="$work/zoo.jfr"
  jcmd JFR.stop name=zoo
  for view in hot-methods contention-by-site pinned-threads; do
    { "$JFR_HOME/bin/jfr" view --width 160 --cell-height 1 "$view" "$work/zoo.jfr" || true; } |
      sed '1,/^---/d' | awk -v view="$view" -v rows="$rows" '
        NF > 1 && n < rows {
          share = 0
          # Few samples prove nothing.
          for (i = 2; i <= NF; i++) if ($i ~ /%$/ && $i + 0 > share && $(i - 1) >= 5) share = $i + 0
          gsub(/ +/, " ")
          print share, view ":", $0
          n++
        }'
  done
}

# The results of the rules, with their scores. Those that are not warnings claim nothing, so their score counts as 0.
# Leaves out the rule that blames other processes, which may be right in any run.
mission_control() {
  "$JFR_HOME/bin/java" -Djava.awt.headless=true -cp "$JMC" \
    org.openjdk.jmc.flightrecorder.rules.report.JfrRulesReport -min info "$work/zoo.jfr" |
    tr '\n' ' ' | sed 's/<rule>/\n<rule>/g' |
    sed -nE '/<id>CompareCpu</d
      s:^<rule>.*<name>(.*)</name>.*<score>(.*)</score>.*<summary>(.*)</summary>.*:\2 \1\: \3:p' |
    awk -v warning=75 '$1 < warning { $1 = 0 } { print }' | sort -rn
}

# The busiest threads, each with its stack in one line.
arthas() {
  local port=$((20000 + pid % 20000))
  "$JFR_HOME/bin/java" -jar "$ARTHAS/arthas-boot.jar" --arthas-home "$ARTHAS" --target-ip 127.0.0.1 \
    --telnet-port "$port" --http-port -1 -c "thread -n $rows; stop" "$pid" </dev/null 2>/dev/null |
    sed 's/\x1b\[[0-9;]*m//g; s/\r//' | awk '
      match($0, /cpuUsage=[0-9.]+%/) {
        if (text != "") print text
        text = substr($0, RSTART + 9, RLENGTH - 10) " " $1
        next
      }
      /^ +at / && text != "" { sub(/^ +at +/, ""); text = text " < " $0 }
      /^$/ { if (text != "") print text; text = "" }'
}

if command -v pidstat >/dev/null; then ask pidstat pidstat_threads; fi
if [[ -r ${ASYNC_PROFILER-} ]]; then ask async-profiler async_profiler; fi
if [[ ${JFR_HOME-} && -x $JFR_HOME/bin/jfr ]]; then ask jfr flight_recorder; fi
if [[ ${JMC-} && -r $work/zoo.jfr ]]; then ask jmc mission_control; fi
if [[ ${ARTHAS-} && -r $ARTHAS/arthas-boot.jar ]]; then ask arthas arthas; fi
