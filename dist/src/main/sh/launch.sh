# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Chooses Java and its options, and runs the command line. Part of the launcher in the source tree, which includes this
# file, and of the one for installation, which contains it and runs under any POSIX shell with -nt and -O. Expects:
#   jar       path of the command-line jar
#   archives  directory for class archives, or empty

die() {
  echo "taskclock: $1" >&2
  exit 1
}

# Prints the feature version of a JVM. Reads the JDK's "release" file if it exists, because starting a JVM would take
# longer than most commands.
java_feature() {
  home=$(dirname -- "$(dirname -- "$(readlink -f -- "$1")")")
  version=
  if [ -r "$home/release" ]; then
    version=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$home/release")
  fi
  [ -n "$version" ] || version=$("$1" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p')
  version=${version#1.} # Java 8 reports 1.8
  printf '%s' "${version%%[!0-9]*}"
}

# Sets java and feature.
find_java() {
  if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    [ -x "$java" ] ||
      die "java: JAVA_HOME is $JAVA_HOME, which has no bin/java: set it to a JDK 17 or later, or unset it"
  else
    java=$(command -v java) || die 'java: not in PATH, and JAVA_HOME is not set: install a JDK 17 or later'
  fi
  feature=$(java_feature "$java")
  [ -n "$feature" ] || die "java: cannot determine the version of $java: set JAVA_HOME to a JDK 17 or later"
  [ "$feature" -ge 17 ] || die "java: $java is version $feature: set JAVA_HOME to a JDK 17 or later"
}

# Reduces the startup time of interactive commands with a class data archive, which is created by the first run if the
# directory is writable. A JVM that cannot use the archive silently runs without it. Sets archive_option.
use_archive() {
  [ -d "$archives" ] || return 0
  home=$(dirname -- "$(dirname -- "$(readlink -f -- "$java")")")
  [ -r "$home/release" ] || return 0
  # The archive is valid only for this jar, at this path, and this JDK.
  key=$({ printf '%s\n' "$jar" && cat "$home/release"; } | cksum)
  archive=$archives/classes-$1-${key%% *}
  # Also when an update replaces the jar with one whose modification time is older than the archive.
  key=$(stat -L -c '%s %Y %Z' -- "$jar" | cksum)
  for new in "$archive"-*.new.*; do
    [ -f "$new" ] || continue
    pid=${new##*.}
    # Still being written, unless by an earlier process of this id, as in containers.
    [ "$pid" = $$ ] || [ ! -d "/proc/$pid" ] || continue
    # The header is written last, when the archive is complete.
    if [ -n "$(head -c 4 -- "$new" | tr -d '\0')" ]; then mv -f -- "$new" "${new%.new.*}.jsa"; else rm -f -- "$new"; fi
  done
  current=$archive-${key%% *}
  if [ -f "$current.jsa" ]; then
    archive_option=-XX:SharedArchiveFile=$current.jsa
  elif [ -w "$archives" ]; then
    rm -f -- "$archive"-*.jsa
    archive_option=-XX:ArchiveClassesAtExit=$current.new.$$
  fi
}

# launch [ARGUMENT]...: replaces the shell with the command line.
launch() {
  command=${1:-}
  archive_option=
  case $command in
    top | list | replay | attach | detach | status | exporter | serve) use_archive "$command" 2>/dev/null || true ;;
  esac
  # JVM options such as -Dtaskclock.backend=mxbean, separated by spaces.
  set -f
  # shellcheck disable=SC2086
  set -- ${TASKCLOCK_JAVA_OPTS:-} -jar "$jar" "$@"
  set +f
  [ -z "$archive_option" ] || set -- "$archive_option" "$@"
  case $command in
    top | list | replay | attach | detach | status)
      # Verifying the archive takes about 40 ms, but a damaged one would crash the JVM.
      set -- -Xshare:auto -XX:+VerifySharedSpaces -Xlog:disable "$@"
      set -- -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"
      ;;
    exporter)
      # It runs for months beside the programs that it observes, so memory matters more than speed. Without memory, it
      # ends, so that it is started again.
      set -- -Xms16m -Xmx96m -Xss512k -XX:ReservedCodeCacheSize=32m -XX:+ExitOnOutOfMemoryError "$@"
      set -- -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20 -Xshare:auto -Xlog:disable "$@"
      set -- -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"
      ;;
    serve)
      # Likewise. The database has its memory outside of the heap.
      set -- -Xms24m -Xmx128m -Xss512k -XX:ReservedCodeCacheSize=48m -XX:+ExitOnOutOfMemoryError "$@"
      set -- -Xshare:auto -Xlog:disable "$@"
      set -- -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"
      ;;
  esac
  # On JDK 24 and later, the manifest grants native access, and the option would disable part of the archive.
  [ "$feature" -ge 24 ] || set -- --enable-native-access=ALL-UNNAMED "$@"
  exec "$java" "$@"
}
