#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# run.sh [--arch ARCH] [-k KERNEL]... [-j JDK]... [-n] [-c CLOCK_JAR] [-o FILE] [-r LOGS] [-a]
#
# Builds TaskClock, runs doctor, ContractTest, the agent (its test program AgentCheck), and the C checks that need
# restartable sequences under emulation on other kernels, JDKs, and C libraries, and writes a table of the results.
# Boots each kernel three times: with default arguments, with nohz_full=0-1 (precise accounting), and with rseq_debug=1,
# with which 6.19 and later kill a process that uses the marker of rseq-own. On each boot, all JDKs run with this
# machine's glibc (if they support it) and with Debian sid's, with and without GLIBC_TUNABLES=glibc.pthread.rseq=0, and
# with -Dtaskclock.backend=rseq-take,syscall. Each must choose the backend that the kernel supports, detect the
# accounting mode, and keep the contract.
#
#   --arch ARCH   architecture of the guest: x86_64 (default), or aarch64, with default kernel arguments, Debian sid's
#                 glibc, and fewer kernels
#   -k KERNEL     run only this kernel; can be repeated (default: 6.1, 6.12, 6.18, 6.19, 7.0, 7.2, 7.3; for aarch64:
#                 6.1, 6.12, 6.18, 7.2, 7.3, and 7.3-16k, which has pages of 16 KB)
#   -j JDK        run only this JDK; can be repeated (default: those in JdkVersions.java, module clock)
#   -n            download the newest builds of these JDKs instead of using installed or cached ones
#   -c CLOCK_JAR  use the clock in this jar instead of the one that was built
#   -o FILE       write the table to FILE (default: dev/matrix/results/DATE.md, or DATE-aarch64.md)
#   -r LOGS       resume the run with this log directory; completed boots are not repeated
#   -a            run ContractTest and the agent in every combination. By default, each JDK runs them once per boot: on
#                 some of a kernel's boots with the tunable and on others without, and likewise with both C libraries if
#                 it supports both. doctor always runs in every combination.
#
# To check that this detects errors, remove the call of probe_markers from select_backend in clock.c, package, and run
# "run.sh -k 6.19 -j 17 -c JAR". It must fail because of the wrong backend: this clock does not test its markers. The
# contract may hold nevertheless, because emulated system calls take so long that a base expires before it can be wrong.
#
# If other programs run on this machine, the emulated processors pause for tens of milliseconds while the guest's time
# continues. Ticks are then late, and with tick accounting they determine user and system time. doctor allows one tick
# and 1 ms between its split and that of getrusage. On boots with tick accounting, a larger difference is therefore
# reported but is not a failure; with precise accounting it is. ContractTest, which allows four ticks, checks the split
# on every boot. For the same reason, there are up to three attempts, all of them in the table, if ContractTest or the
# agent fails, if doctor fails with precise accounting, or if it finds only the backend syscall where a better one
# should work (the test sees an unchanged marker if its sleep of 100 us is over before it has begun). Using a backend
# that must be rejected is a failure in any attempt, and so is a crash. JVMs compile with C1 only, see init.
#
# A step takes 10 to 20 s on two idle processors, and all steps two hours, for aarch64 one; longer if other programs
# run. Kernels and JDKs are first downloaded (kernels.sh, jdks.sh; half a gigabyte) to MATRIX_CACHE (default:
# ~/.cache/taskclock-matrix), which also holds the logs. Needs the tools for a build, Debian's apt, qemu-system-x86,
# busybox-static, cpio, patchelf, jq, 2 GB of disk space, and 3 GB of memory. For aarch64, needs qemu-system-arm,
# qemu-user, and gcc-aarch64-linux-gnu with libc6-dev-arm64-cross instead of qemu-system-x86 and patchelf, and 5 GB of
# each. Exit codes: 0 success, 1 a combination failed, 2 usage error or missing prerequisite.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*}
previous=
for argument; do
  [[ $previous != --arch ]] || export MATRIX_ARCH=$argument
  previous=$argument
done
. "$here/debian.sh"

kernels=()
jdks=()
clock=
out=
all=
resumed=
newest=()
while (($#)); do
  case $1 in
    -h | --help) usage ;;
    -a) all=yes && shift && continue ;;
    -n) newest=(--newest) && shift && continue ;;
    --arch | -k | -j | -c | -o | -r) [[ ${2:-} ]] || die "$1: missing value: see run.sh --help" ;;
    *) die "$1: unknown option: see run.sh --help" ;;
  esac
  case $1 in
    -k) [[ $2 =~ ^[0-9]+\.[0-9]+(-16k)?$ ]] && kernels+=("$2") || die "-k $2: not a kernel version: use one such as 6.12" ;;
    -j) [[ $2 =~ ^[0-9]+$ ]] && (($2 >= 17)) && jdks+=("$2") || die "-j $2: not a JDK 17 or later: use a number such as 25" ;;
    -c) [[ -r $2 ]] && clock=$(readlink -f "$2") || die "-c $2: not readable: specify a jar" ;;
    -o) out=$2 ;;
    -r) [[ -r $2/jars ]] && resumed=$(readlink -f "$2") || die "-r $2: no logs of a run: specify a directory in $cache/logs" ;;
  esac
  shift 2
done
boots=('' nohz_full=0-1 rseq_debug=1)
libcs=(host new)
all_kernels=(6.1 6.12 6.18 6.19 7.0 7.2 7.3)
if [[ $arch == aarch64 ]]; then
  boots=('')
  libcs=(new)
  all_kernels=(6.1 6.12 6.18 7.2 7.3 7.3-16k)
fi
((${#kernels[@]})) || kernels=("${all_kernels[@]}")
[[ $out ]] || out=$here/results/$(date +%F)$([[ $arch == x86_64 ]] || echo "-$arch").md
((${#jdks[@]})) || read -ra jdks < <(sed -n 's/,//g; s/.*String TESTED = "\(.*\)";/\1/p' \
  "$root/clock/src/main/java/org/taskclock/internal/JdkVersions.java")
[[ ! -e $out ]] || die "$out: already exists: choose another file with -o, or remove it"
need "qemu-system-$arch" "$qemu_package" cpio cpio jq jq mvn maven gcc gcc make make
if [[ $arch == x86_64 ]]; then
  need busybox busybox-static patchelf patchelf
  ! ldd "$(command -v busybox)" >/dev/null 2>&1 ||
    die 'busybox: dynamically linked, and the guest has no libraries: apt-get install busybox-static'
else
  need "qemu-$arch" qemu-user "$arch-linux-gnu-gcc" gcc-aarch64-linux-gnu
fi
mkdir -p "$(dirname "$out")" 2>/dev/null && : 2>/dev/null >>"$out" ||
  die "$out: not writable: choose another file with -o"
rm "$out"

# on_this_machine PROGRAM ARGUMENT...: runs a program for the guest's architecture.
on_this_machine() {
  if [[ $arch == x86_64 ]]; then "$@"; else "qemu-$arch" "$@"; fi
}

"$here/kernels.sh" "${kernels[@]}"
"$here/jdks.sh" "${newest[@]}" "${jdks[@]}"
declare -A libc_version needs
for libc in "${libcs[@]}"; do
  libc_version[$libc]=$(on_this_machine "$cache/libc/$libc/$loader" --version | sed -n '1s/.* \([0-9]*\.[0-9]*\)\.*$/\1/p')
done
# The glibc version that a JDK needs but this machine lacks, from the error message of the loader.
next=0
declare -A position
for jdk in "${jdks[@]}"; do
  needs[$jdk]=
  if [[ $arch == x86_64 ]]; then
    needs[$jdk]=$("$cache/jre/$jdk/bin/java" -version 2>&1 | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1 || true)
  fi
  position[$jdk]=$((next++))
done

started=$(date +%F-%H%M%S)
logs=${resumed:-$cache/logs/$started}
work=$cache/work-$$
mkdir -p "$logs" "$work/root"/{bin,app,jre,libc}
trap 'rm -rf "$work"' EXIT

# ---- contents of the guest

echo 'run.sh: building' >&2
built_from=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
app=$work/root/app
maven() {
  mvn -B -q -f "$root/pom.xml" "$@" >"$logs/build" 2>&1 </dev/null || die "the build failed: see $logs/build"
}
maven -DskipTests package -pl cli -am
dependency=org.apache.maven.plugins:maven-dependency-plugin:3.9.0
junit=$(sed -n 's:.*<junit.version>\(.*\)</junit.version>.*:\1:p' "$root/pom.xml")
launcher=org.junit.platform:junit-platform-console-standalone
maven $dependency:copy -N -Dartifact=$launcher:"$junit" -DoutputDirectory="$app"
maven $dependency:copy-dependencies -pl clock -DincludeGroupIds=org.assertj,net.bytebuddy -DoutputDirectory="$app"
make -s -C "$root/clock/src/test/c" ARCH=$arch OUT="$app"
make -s -C "$root/clock/src/main/c" ARCH=$arch OUT="$app/native" for-guest
contract_path=/app/clock.jar:/app/tests
for jar in "$app"/*.jar; do contract_path+=:/app/${jar##*/}; done
doctor_path=/app/cli.jar
# The jar of the command line contains a clock too; the first one on the class path is used.
[[ ! $clock ]] || doctor_path=/app/clock.jar:$doctor_path
echo $contract_path >"$app/contract.path"
echo $doctor_path >"$app/doctor.path"
version=$(sed -n '/<artifactId>taskclock-parent/{n;s:.*<version>\(.*\)</version>.*:\1:p}' "$root/pom.xml")
cp "${clock:-$root/clock/target/taskclock-$version.jar}" "$app/clock.jar"
cp "$root/cli/target/taskclock-cli.jar" "$app/cli.jar"
cp -r "$root/clock/target/test-classes" "$app/tests"
cp "$root/agent/target/taskclock-agent.jar" "$app/agent.jar"
cp -r "$root/agent/target/test-classes" "$app/agent-tests"
if [[ $arch == x86_64 ]]; then busybox=$(command -v busybox); else busybox=$cache/busybox; fi
cp "$busybox" "$work/root/bin/busybox"
install -m 755 "$here/init" "$work/root/init"
for libc in "${libcs[@]}"; do cp -r "$cache/libc/$libc" "$work/root/libc"; done
for jdk in "${jdks[@]}"; do cp -r "$cache/jre/$jdk" "$work/root/jre"; done
jars=$(cd "$app" && sha256sum clock.jar cli.jar agent.jar)
[[ ! $resumed || $jars == "$(<"$logs/jars")" ]] || die "-r $logs: its jars differ from the current ones: start a new run"
echo "$jars" >"$logs/jars"
# The commit of the build: the sources may have changed by the time the table is written.
[[ $resumed ]] || echo "$built_from" >"$logs/commit"
archive() { (cd "$1" && find . | cpio --quiet -o -H newc -R 0:0); }
archive "$work/root" >"$work/root.cpio"

# ---- expected results

# kernel_number KERNEL: 6.18 is 6018
kernel_number() {
  local version=${1%-*}
  echo $((${version%.*} * 1000 + ${version#*.}))
}

# expected_backend KERNEL TUNABLE BOOT
expected_backend() {
  local kernel
  kernel=$(kernel_number "$1")
  if [[ $3 == rseq_debug=1 ]] && ((kernel >= 6019)); then
    # The kernel removes one marker at each system call, and kills a process that uses the other.
    echo syscall
    return
  fi
  local own=rseq-own
  [[ $2 != take ]] || own=rseq-take
  if [[ $2 == plain ]]; then
    # 6.19 does not reset glibc's marker when a thread blocks.
    ((kernel < 6019)) && echo rseq || echo syscall
  else
    # Node ids came with 6.3; 6.19 does not rewrite them.
    ((kernel >= 6003 && kernel < 6019 || kernel >= 7000)) && echo $own || echo syscall
  fi
}

# runs_all JDK LIBC TUNABLE BOOT KERNEL: succeeds if this combination also runs ContractTest and the agent.
runs_all() {
  [[ ! $all ]] || return 0
  local n=${position[$1]} libc=new tunable=plain
  # The combinations differ between the boots of a kernel, or between kernels if each has only one.
  if ((${#boots[@]} == 1)); then n=$((n + ${5//[!0-9]/})); elif [[ $4 ]]; then n=$((n + 1)); fi
  # Four consecutive JDKs get four different combinations.
  [[ ${needs[$1]} ]] || libc=${libcs[(n / 2 % 2 ^ n % 2) % ${#libcs[@]}]}
  ((n % 2)) && tunable=rseq=0
  # From 7.0 on, only taking avoids system calls without preparation.
  [[ $2 == "$libc" ]] && [[ $3 == "$tunable" || ($3 == take && $(kernel_number "$5") -ge 7000) ]]
}

# combinations KERNEL BOOT: prints the steps for the guest, in the format of /init.
combinations() {
  local jdk libc tunable steps backend
  for jdk in "${jdks[@]}"; do
    for libc in "${libcs[@]}"; do
      [[ $libc != host || ! ${needs[$jdk]} ]] || continue
      for tunable in plain rseq=0 take; do
        steps=doctor
        if runs_all "$jdk" "$libc" $tunable "$2" "$1"; then steps+=' contract agent'; fi
        backend=$(expected_backend "$1" $tunable "$2")
        if [[ $jdk == "${jdks[0]}" && $backend != syscall ]]; then steps+=' native'; fi
        echo "$libc $jdk $tunable $backend $steps"
      done
    done
  done
}

# split_log DIRECTORY: splits the guest's output into DIRECTORY/LIBC-JDK-TUNABLE.STEP.ATTEMPT, each of which ends with
# ==end EXIT-CODE SECONDS.
split_log() {
  awk -v folder="$1" '
    /^==begin / { key = $2 "." $3; file = folder "/" key "." ++attempts[key] }
    file { print >file }
    /^==end / { close(file); file = "" }' "$1/out"
}

# attempts FILE: prints the number of attempts of a step, whose logs are FILE.1, FILE.2, ...
attempts() {
  { ls "$1".* 2>/dev/null || true; } | wc -l
}

exit_code() {
  sed -n 's/^==end \([0-9]*\).*/\1/p' "$1" 2>/dev/null | tail -n 1 || true
}

# json LOG: prints doctor's output.
json() {
  grep -m 1 '^{' "$1" 2>/dev/null || true
}

# why_doctor, why_contract, why_agent, why_native LOG: prints the cause of a failure, or nothing. "split": only the
# split was wrong.
why_doctor() {
  local code
  code=$(exit_code "$1")
  [[ $code != 0 ]] || return 0
  json "$1" | jq -er '.contract | select(.holds == false) |
    if .unknownReadings == 0 and
      (if .cpuBudgetNanos == 0 then .cpuErrorP9999Nanos < 1000 else .cpuErrorMeanNanos <= 3 * .cpuBudgetNanos end) and .sumErrors == 0 and .backwardSteps == 0
      and .blockedNanosCounted <= 1000 * .waits and .splitErrorMaxNanos > .splitBoundNanos
    then "split" else "contract" end' 2>/dev/null || echo "exit code ${code:-none}"
}

why_contract() {
  local code
  code=$(exit_code "$1")
  [[ $code != 0 ]] || return 0
  # A failed method is followed by [X] and its message.
  grep -oE '\w+\(\) \[X\]' "$1" 2>/dev/null | grep -oE '^\w+' | paste -sd' ' | grep . || echo "exit code ${code:-none}"
}

why_agent() {
  local code
  code=$(exit_code "$1")
  [[ $code != 0 ]] || return 0
  { grep -m 1 -oE 'AssertionError: .*|taskclock: agent: .*' "$1" 2>/dev/null || echo "exit code ${code:-none}"; } | tr '|' '/'
}

why_native() {
  local code
  code=$(exit_code "$1")
  [[ $code != 0 ]] || return 0
  grep -m 1 'failed:' "$1" 2>/dev/null | tr '|' '/' || echo "exit code ${code:-none}"
}

# earlier STEP FILE BACKEND: prints the causes of failure of all attempts before the last one.
earlier() {
  local n last why
  last=$(attempts "$2")
  for ((n = 1; n < last; n++)); do
    why=$(json "$2.$n" | jq -r .backend)
    if [[ $1 != doctor || $why == "$3" ]]; then why=$("why_$1" "$2.$n"); fi
    printf '; attempt %s: %s' $n "${why:-crashed}"
  done
}

# count WORD LOG: "[ 8 tests WORD ]"
count() {
  { sed -n "s/^\[ *\([0-9]*\) tests $1 *\]/\1/p" "$2" 2>/dev/null || true; } | tail -n 1
}

# row KERNEL BOOT LOGS LIBC JDK TUNABLE BACKEND STEPS...
row() {
  local kernel=$1 boot=$2 name=$3/$4-$5-$6 libc=${libc_version[$4]} jdk=$5 tunable=$6 expected=$7 steps=${*:8}
  local problems=() checks backend=none accounting=none doctor=none contract=- agent=- native=- json n log why passed failed
  local want=tick version=${kernel%-*}
  [[ $boot != nohz_full=* ]] || want=precise
  n=$(attempts "$name.doctor")
  log=$name.doctor.$n
  json=$(json "$log")
  if [[ $json ]]; then
    backend=$(jq -r .backend <<<"$json")
    accounting=$(jq -r .accounting <<<"$json")
    [[ $backend == "$expected" ]] || problems+=("backend is $backend, not $expected")
    [[ $accounting == "$want" ]] || problems+=("accounting is $accounting, not $want")
    [[ $(jq -r .kernel <<<"$json") =~ ^Linux\ ${version/./\\.}[^0-9] ]] || problems+=("wrong kernel")
    [[ $(jq -r .libc <<<"$json") == "glibc $libc" ]] || problems+=("wrong C library")
    [[ $(jq -r .jdk <<<"$json") =~ \ $jdk[.+-] ]] || problems+=("wrong JDK")
  else
    problems+=('doctor: no result')
  fi
  why=$(why_doctor "$log")
  doctor=${why:-holds}
  if [[ $why == split && $want == tick ]]; then
    doctor="holds, but split: $(jq -r '.contract.splitErrorMaxNanos / 1e5 | round / 10' <<<"$json") ms"
  elif [[ $why ]]; then
    problems+=("doctor: $why")
  fi
  doctor+=$(earlier doctor "$name.doctor" "$expected")
  # A backend that is wrongly rejected at times is only slow; one that is wrongly used even once is an error.
  if [[ $expected == syscall && $doctor == *rseq* ]]; then problems+=('doctor: used the wrong backend'); fi
  [[ $why == exit* || $doctor != *@(crashed|exit code)* ]] || problems+=('doctor: crashed')
  if [[ $steps == *contract* ]]; then
    n=$(attempts "$name.contract")
    log=$name.contract.$n
    passed=$(count successful "$log")
    failed=$(count failed "$log")
    contract="${passed:-0} passed, ${failed:-none} failed$(earlier contract "$name.contract" "$expected")"
    why=$(why_contract "$log")
    [[ ! $why ]] || problems+=("contract: $why")
    if [[ $expected == syscall ]] && grep -q 'shouldUseTheExpectedBackend.*\[X\]' "$name".contract.*; then
      problems+=('contract: used the wrong backend')
    fi
    [[ $why == exit* || $contract != *'exit code'* ]] || problems+=('contract: crashed')
    ((${passed:-0} > 0)) && [[ ${failed:-1} == 0 ]] || [[ $why ]] || problems+=('contract: no test ran')
  fi
  if [[ $steps == *agent* ]]; then
    n=$(attempts "$name.agent")
    why=$(why_agent "$name.agent.$n")
    agent=${why:-works}$(earlier agent "$name.agent" "$expected")
    [[ ! $why ]] || problems+=("agent: $why")
  fi
  if [[ $steps == *native* ]]; then
    n=$(attempts "$name.native")
    why=$(why_native "$name.native.$n")
    passed=$(grep -c ': passed$' "$name.native.$n" 2>/dev/null || true)
    native=${why:-$passed passed}$(earlier native "$name.native" "$expected")
    [[ ! $why ]] || problems+=("C checks: $why")
    checks=2
    [[ $tunable != take ]] || checks=3
    [[ $why ]] || ((passed == checks)) || problems+=('C checks: not run')
  fi
  local verdict=ok
  if ((${#problems[@]})); then
    verdict=$(printf '; %s' "${problems[@]}")
    verdict="**FAILED**: ${verdict#; }"
  fi
  echo "| $kernel | ${boot:--} | $jdk | $libc | ${tunable/plain/-} | $backend | $accounting | $doctor | $contract |" \
    "$agent | $native | $verdict |"
}

# ---- the boots

rows=$logs/rows.md
: >"$rows"
declare -A release runtime
for kernel in "${kernels[@]}"; do
  for boot in "${boots[@]}"; do
    folder=$logs/$kernel${boot:+-${boot%%=*}}
    mkdir -p "$folder" "$work/list"
    combinations "$kernel" "$boot" >"$work/list/work"
    (cat "$work/root.cpio" && archive "$work/list") >"$work/boot.cpio"
    steps=$(cut -d' ' -f5- "$work/list/work" | wc -w)
    if [[ ! -e $folder/done ]]; then
      echo "run.sh: kernel $kernel $boot: $(wc -l <"$work/list/work") combinations" >&2
      rm -f "$folder"/*
      seconds=$((300 + 150 * steps))
      [[ $arch == x86_64 ]] || seconds=$((2 * seconds))
      if "$here/guest.sh" "$cache/kernels/vmlinuz-$kernel" "$work/boot.cpio" "$folder/out" $seconds $boot; then
        touch "$folder/done"
      else
        echo "run.sh: kernel $kernel $boot: not finished within $seconds s, or QEMU failed: see $folder/out.console" >&2
      fi
      split_log "$folder"
    fi
    while read -r -a combination; do
      row "$kernel" "$boot" "$folder" "${combination[@]}"
    done <"$work/list/work" | tee -a "$rows" >&2
    for jdk in "${jdks[@]}"; do
      [[ ${needs[$jdk]} ]] || continue
      for tunable in - rseq=0 take; do
        echo "| $kernel | ${boot:--} | $jdk | ${libc_version[host]} | $tunable | - | - | - | - | - | - |" \
          "not run: this JDK needs ${needs[$jdk]} |"
      done
    done >>"$rows"
    for json in "$folder"/*.doctor.*; do
      json=$(json "$json")
      [[ $json ]] || continue
      release[$kernel]=$(jq -r '.kernel | ltrimstr("Linux ")' <<<"$json")
      vm=$(jq -r .jdk <<<"$json")
      for jdk in "${jdks[@]}"; do if [[ $vm =~ \ $jdk[.+-] ]]; then runtime[$jdk]=$vm; fi; done
    done
  done
done

# ---- the table

number() { grep -cE -- "$1" "$rows" || true; }
failed=$(number '\*\*FAILED\*\*')
{
  echo "# TaskClock on other kernels and JDKs, $(date +%F)"
  echo
  echo "Written by \`matrix/run.sh\`, with two processors emulated by" \
    "$("qemu-system-$arch" --version | sed -n '1s/ (.*//p') (${MATRIX_ACCEL:-tcg})."
  [[ ! $clock ]] || echo '**This run used the clock of another jar (`-c`).**'
  echo
  echo "- combinations: $(number ' ok \|$') ok, $failed failed, $(number 'not run:') not run"
  echo "- repeated attempts: $(grep -oE 'attempt [0-9]' "$rows" | wc -l)"
  echo "- TaskClock: $(<"$logs/commit")"
  for kernel in "${kernels[@]}"; do echo "- kernel $kernel: ${release[$kernel]:-unknown}"; done
  for jdk in "${jdks[@]}"; do echo "- JDK $jdk: ${runtime[$jdk]:-unknown}"; done
  if [[ $arch == x86_64 ]]; then
    echo "- glibc: ${libc_version[host]} from the host, ${libc_version[new]} from Debian sid"
  else
    echo "- architecture: $arch; glibc: ${libc_version[new]} from Debian sid"
  fi
  echo '- tunable: rseq=0 means `GLIBC_TUNABLES=glibc.pthread.rseq=0`, take `-Dtaskclock.backend=rseq-take,syscall`'
  echo "- doctor: \"but split\" (tick accounting: $(number 'but split') combinations) means that the split differs"
  echo '  from getrusage by more than a tick and 1 ms. This is not a failure, because emulated ticks are late: see'
  echo '  `run.sh --help`'
  echo '- ContractTest, agent, C checks (check-switches, check-counter): `-` means that they ran in another combination'
  echo '  of this boot, or that the C checks have nothing to check on the backend syscall'
  echo '- attempt N: why the step was repeated; for doctor, the backend if it was the wrong one'
  echo
  echo '| kernel | arguments | JDK | glibc | tunable | backend | accounting | doctor: the contract | ContractTest | agent | C checks | verdict |'
  echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
  sort -t'|' -k 2,2V -k 3,3 -k 4,4n -k 5,5V -k 6,6 "$rows"
} >"$out"
echo "run.sh: $failed failed: see $out, and the logs in $logs" >&2
((failed == 0)) || exit 1
