# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# What the benchmarks of the exporter and of serve have in common. To be sourced. Needs root, the directory of the
# repository, java, work, a temporary directory, and pids, an array of processes to be killed at the end.

options=(-Xms8m -Xmx16m -Xss256k -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=8m)

# Starts a number of JVMs with a number of threads each, and waits until the threads are running. One JVM in ten has a
# busy thread; all have the JVM's own threads besides the idle ones.
start_jvms() {
  local jvms=$1 threads=$2 loads pid i
  for ((i = 0; i < jvms; i++)); do
    loads=("idle=$((threads - 15))")
    ((i % 10)) || loads+=(lightly=2)
    # The program ends when its standard input does.
    "$java" "${options[@]}" -cp "$root/dev/testing/target/classes" org.taskclock.testing.LoadProgram "${loads[@]}" \
      >"$work/jvm" < <(exec sleep 86400) 2>&1 &
    pids+=($!)
    ((i % 10)) || sleep 1
  done
  for pid in "${pids[@]}"; do
    until [[ $(ls "/proc/$pid/task" | wc -l) -ge $((threads - 15)) ]]; do sleep 0.5; done
  done
}

# Starts a number of JVMs with the agent, which count requests as AccountLoad says.
start_accounts() {
  local jvms=$1 counted=$2 clock i
  clock=$(echo "$root"/clock/target/taskclock-[0-9]*[0-9].jar)
  "${java}c" -proc:none -cp "$clock" -d "$work" "$root/lab/AccountLoad.java"
  for ((i = 0; i < jvms; i++)); do
    "$java" "${options[@]}" -javaagent:"$root/agent/target/taskclock-agent.jar" -cp "$work:$clock" \
      AccountLoad "$counted" < <(exec sleep 86400) >"$work/jvm" 2>&1 &
    pids+=($!)
    ((i % 10)) || sleep 1
  done
  sleep 10
}

cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
memory() { awk '/^VmRSS|^VmHWM/ { printf "%s %d MB  ", $1, $2 / 1024 }' "/proc/$1/status"; }
