#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Takes the pictures of the page again (docs/images/serve-*.png): starts JVMs, one of which begins to misbehave after a
# minute, watches them with taskclock serve, and opens the page in Chromium. Build first: mvn -DskipTests install.
#
# Usage: serve.sh [DIRECTORY]
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
directory=$(realpath -- "${1:-$root/docs/images}")
port=${PORT:-19467}
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

# Starts a JVM: its name, and its loads. It reads commands from the pipe of that name, and ends when we do.
start() {
  local name=$1
  shift
  mkfifo "$work/$name"
  SERVICE=$name "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx128m -XX:+UseG1GC -cp "$root/dev/testing/target/classes" \
    org.taskclock.testing.LoadProgram "$@" >/dev/null <>"$work/$name" &
  pids+=($!)
}

start billing lightly=3 idle=20
start orders lightly=4 carrier kernel idle=12
start search allocate lightly=6 idle=30
start mail idle=8 lightly
start reports garbage lightly=2 idle=4

# Another program, which has named accounts.
mkfifo "$work/shop"
SERVICE=shop "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx128m "-javaagent:$root/agent/target/taskclock-agent.jar" \
  -cp "$root/web/target/test-classes:$root/dev/testing/target/classes:$root/clock/target/classes" \
  org.taskclock.web.page.AccountLoadProgram initech umbrella globex acme >/dev/null <>"$work/shop" &
pids+=($!)

TASKCLOCK_JAVA_OPTS= "$root/taskclock" serve --listen "127.0.0.1:$port" --data "$work/data" --match LoadProgram \
  --service env:SERVICE --allow-actions &
pids+=($!)
sleep 75
echo 'start yield' >"$work/orders"
sleep 75

cd "$root"
mvn -q -o -Pslow "-Dpictures.url=http://127.0.0.1:$port/" "-Dpictures.directory=$directory" -Dit.test=PagePicturesTest \
  -pl web failsafe:integration-test@jdk25
