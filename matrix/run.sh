#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# run.sh [-k KERNEL]... [-j JDK]... [-n] [-c CLOCK_JAR] [-o FILE] [-r LOGS] [-a]
#
# Builds TaskClock and runs "doctor", ContractTest and the agent (its test program Sample) on other kernels, JDKs and C
# libraries than this machine's, under emulation, and writes a table of what came of it. Each kernel is booted three times: as
# it is, with nohz_full=0-1, which makes accounting precise, and with rseq_debug=1, with which 6.19 and later kill a
# process for the marker of rseq-own. On each boot all JDKs run, with this machine's glibc and with Debian sid's where they can,
# with and without GLIBC_TUNABLES=glibc.pthread.rseq=0. Each must choose the rung that is known for that kernel, find
# the right accounting, and keep the contract.
#
#   -k KERNEL     only this one, or these; without: 6.1, 6.12, 6.18, 6.19, 7.0, 7.2, 7.3
#   -j JDK        only this one, or these; without: 17, 21, 25, 26, 27
#   -n            the newest builds of these JDKs, fetched now, instead of those that are installed or cached
#   -c CLOCK_JAR  the clock of this jar instead of the one that was built
#   -o FILE       the table; without: matrix/results/DATE.md
#   -r LOGS       the run of which these are the logs, once more: a boot that was done is not repeated
#   -a            ContractTest and the agent in every combination. Without, each JDK runs them once on each boot: with
#                 the tunable on some of a kernel's boots and without on others, and likewise with both C libraries
#                 where it can. doctor runs in every combination.
#
# Does it notice? A clock without its probe must fail: let select_rung in clock.c not call probe_markers, package,
# and run "run.sh -k 6.19 -j 17 -c JAR". What it finds is the wrong rung: emulated system calls take so long that a base
# has expired before it can be wrong, so the contract may hold all the same.
#
# Where other programs run, the emulated processors stand still for tens of milliseconds while the guest's time goes
# on. Ticks then come late, and with tick accounting user and system time are only as good as these: doctor allows a
# tick and 1 ms between its split and getrusage's, so on the boots with tick accounting that finding is reported but
# not judged; ContractTest, which allows four ticks, judges it on every boot, and doctor with precise accounting. For
# the same reason doctor is repeated where it fails with precise accounting or finds only the rung syscall where there
# should be a better one (the probe finds a marker kept if the 100 us for which it sleeps were over before it slept),
# and ContractTest and the agent where they fail: up to three attempts, and the table tells of each. To use a rung that must be
# refused is a failure at any attempt, and so is a crash. JVMs compile with C1 only, see init.
#
# A step takes 10 to 20 s on two idle processors, all of them two hours; more where other programs run. First the kernels
# and JDKs are fetched (kernels.sh, jdks.sh; half a gigabyte) into MATRIX_CACHE, ~/.cache/taskclock-matrix unless told,
# where the logs are too. Needs what a build needs, Debian's apt, qemu-system-x86, busybox-static, cpio, patchelf, jq, 2
# GB of disk and 3 GB of memory. Exit codes: 0 all is well, 1 a combination failed, 2 wrong usage or something is
# missing.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*}
. "$here/debian.sh"

kernels=()
jdks=()
clock=
out=$here/results/$(date +%F).md
all=
again=
newest=()
while (($#)); do
  case $1 in
    -h | --help) usage ;;
    -a) all=yes && shift && continue ;;
    -n) newest=(--newest) && shift && continue ;;
    -k | -j | -c | -o | -r) [[ ${2:-} ]] || die "$1: its value is missing: see run.sh --help" ;;
    *) die "$1: no such option: see run.sh --help" ;;
  esac
  case $1 in
    -k) [[ $2 =~ ^[0-9]+\.[0-9]+$ ]] && kernels+=("$2") || die "-k $2: no version of a kernel: say 6.12" ;;
    -j) [[ $2 =~ ^[0-9]+$ ]] && (($2 >= 17)) && jdks+=("$2") || die "-j $2: no JDK 17 or later: say 25" ;;
    -c) [[ -r $2 ]] && clock=$(readlink -f "$2") || die "-c $2: cannot be read: name a jar" ;;
    -o) out=$2 ;;
    -r) [[ -r $2/jars ]] && again=$(readlink -f "$2") || die "-r $2: no logs of a run: name a folder in $cache/logs" ;;
  esac
  shift 2
done
((${#kernels[@]})) || kernels=(6.1 6.12 6.18 6.19 7.0 7.2 7.3)
((${#jdks[@]})) || jdks=(17 21 25 26 27)
[[ ! -e $out ]] || die "$out: there are results already: name another file by -o, or remove them"
need qemu-system-x86_64 qemu-system-x86 busybox busybox-static cpio cpio patchelf patchelf jq jq
need mvn maven gcc gcc make make
! ldd "$(command -v busybox)" >/dev/null 2>&1 ||
  die 'busybox: needs libraries, which the guest lacks: apt-get install busybox-static'
mkdir -p "$(dirname "$out")" 2>/dev/null && : 2>/dev/null >>"$out" ||
  die "$out: cannot be written: name another file by -o"
rm "$out"

"$here/kernels.sh" "${kernels[@]}"
"$here/jdks.sh" "${newest[@]}" "${jdks[@]}"
libcs=(host new)
declare -A libc_version needs
for libc in "${libcs[@]}"; do
  libc_version[$libc]=$("$cache/libc/$libc/ld-linux-x86-64.so.2" --version | sed -n '1s/.* \([0-9]*\.[0-9]*\)\.*$/\1/p')
done
# What JDKs lack here: the version of glibc that they ask for, as the loader complains.
both=0
declare -A turn
for jdk in "${jdks[@]}"; do
  needs[$jdk]=$("$cache/jre/$jdk/bin/java" -version 2>&1 | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1 || true)
  turn[$jdk]=$((both++))
done

started=$(date +%F-%H%M%S)
logs=${again:-$cache/logs/$started}
work=$cache/work-$$
mkdir -p "$logs" "$work/root"/{bin,app,jre,libc}
trap 'rm -rf "$work"' EXIT

# ---- what the guests run

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
make -s -C "$root/clock/src/test/c" OUT="$app"
contract_path=/app/clock.jar:/app/tests
for jar in "$app"/*.jar; do contract_path+=:/app/${jar##*/}; done
doctor_path=/app/cli.jar
# The command line's jar holds a clock too; the first one counts.
[[ ! $clock ]] || doctor_path=/app/clock.jar:$doctor_path
echo $contract_path >"$app/contract.path"
echo $doctor_path >"$app/doctor.path"
version=$(sed -n '/<artifactId>taskclock-parent/{n;s:.*<version>\(.*\)</version>.*:\1:p}' "$root/pom.xml")
cp "${clock:-$root/clock/target/taskclock-$version.jar}" "$app/clock.jar"
cp "$root/cli/target/taskclock-cli.jar" "$app/cli.jar"
cp -r "$root/clock/target/test-classes" "$app/tests"
cp "$root/agent/target/taskclock-agent.jar" "$app/agent.jar"
cp -r "$root/agent/target/test-classes" "$app/agent-tests"
cp "$(command -v busybox)" "$work/root/bin/busybox"
install -m 755 "$here/init" "$work/root/init"
cp -r "$cache/libc/." "$work/root/libc"
for jdk in "${jdks[@]}"; do cp -r "$cache/jre/$jdk" "$work/root/jre"; done
jars=$(cd "$app" && sha256sum clock.jar cli.jar agent.jar)
[[ ! $again || $jars == "$(<"$logs/jars")" ]] || die "-r $logs: the jars were others: run it anew"
echo "$jars" >"$logs/jars"
# Of what was built: by the time the table is written the sources may be others.
[[ $again ]] || echo "$built_from" >"$logs/commit"
archive() { (cd "$1" && find . | cpio --quiet -o -H newc -R 0:0); }
archive "$work/root" >"$work/root.cpio"

# ---- what must come of it

# expected_rung KERNEL TUNABLE BOOT
expected_rung() {
  local kernel=$((${1%.*} * 1000 + ${1#*.}))
  if [[ $3 == rseq_debug=1 ]] && ((kernel >= 6019)); then
    # It removes one marker at each system call and kills for the other.
    echo syscall
    return
  fi
  if [[ $2 == plain ]]; then
    # 6.19 does not reset glibc's marker when a thread blocks.
    ((kernel < 6019)) && echo rseq || echo syscall
  else
    # Node ids came with 6.3; 6.19 does not rewrite them.
    ((kernel >= 6003 && kernel < 6019 || kernel >= 7000)) && echo rseq-own || echo syscall
  fi
}

# runs_all JDK LIBC TUNABLE BOOT: not doctor only.
runs_all() {
  [[ ! $all ]] || return 0
  local n=${turn[$1]} libc=new tunable=plain
  [[ ! $4 ]] || n=$((n + 1))
  # By turns, four JDKs in a row differ.
  [[ ${needs[$1]} ]] || libc=${libcs[n / 2 % 2 ^ n % 2]}
  ((n % 2)) && tunable=rseq=0
  [[ $2 == "$libc" && $3 == "$tunable" ]]
}

# combinations KERNEL BOOT: what the guest is to do, as /init wants it.
combinations() {
  local jdk libc tunable steps
  for jdk in "${jdks[@]}"; do
    for libc in "${libcs[@]}"; do
      [[ $libc != host || ! ${needs[$jdk]} ]] || continue
      for tunable in plain rseq=0; do
        steps=doctor
        if runs_all "$jdk" "$libc" $tunable "$2"; then steps+=' contract agent'; fi
        echo "$libc $jdk $tunable $(expected_rung "$1" $tunable "$2") $steps"
      done
    done
  done
}

# split_log FOLDER: cuts what the guest said into FOLDER/LIBC-JDK-TUNABLE.STEP.ATTEMPT, which end with ==end EXIT-CODE
# SECONDS.
split_log() {
  awk -v folder="$1" '
    /^==begin / { key = $2 "." $3; file = folder "/" key "." ++attempts[key] }
    file { print >file }
    /^==end / { close(file); file = "" }' "$1/out"
}

# attempts FILE: how often a step was tried; its logs are FILE.1, FILE.2, ...
attempts() {
  { ls "$1".* 2>/dev/null || true; } | wc -l
}

exit_code() {
  sed -n 's/^==end \([0-9]*\).*/\1/p' "$1" 2>/dev/null | tail -n 1 || true
}

# json LOG: what doctor said.
json() {
  grep -m 1 '^{' "$1" 2>/dev/null || true
}

# why_doctor, why_contract, why_agent LOG: nothing if all was well. "split": nothing else was wrong.
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
  # A method has the mark of its failure behind it, and what it said.
  grep -oE '\w+\(\) \[X\]' "$1" 2>/dev/null | grep -oE '^\w+' | paste -sd' ' | grep . || echo "exit code ${code:-none}"
}

why_agent() {
  local code
  code=$(exit_code "$1")
  [[ $code != 0 ]] || return 0
  { grep -m 1 -oE 'AssertionError: .*|taskclock: agent: .*' "$1" 2>/dev/null || echo "exit code ${code:-none}"; } | tr '|' '/'
}

# earlier STEP FILE RUNG: why the attempts before the last one were not enough.
earlier() {
  local n last why
  last=$(attempts "$2")
  for ((n = 1; n < last; n++)); do
    why=$(json "$2.$n" | jq -r .rung)
    if [[ $1 != doctor || $why == "$3" ]]; then why=$("why_$1" "$2.$n"); fi
    printf '; attempt %s: %s' $n "${why:-crashed}"
  done
}

# count WORD LOG: "[ 8 tests WORD ]"
count() {
  { sed -n "s/^\[ *\([0-9]*\) tests $1 *\]/\1/p" "$2" 2>/dev/null || true; } | tail -n 1
}

# row KERNEL BOOT LOGS LIBC JDK TUNABLE RUNG STEPS...
row() {
  local kernel=$1 boot=$2 name=$3/$4-$5-$6 libc=${libc_version[$4]} jdk=$5 tunable=$6 expected=$7 steps=${*:8}
  local problems=() rung=none accounting=none doctor=none contract=- agent=- json n log why passed failed want=tick
  [[ $boot != nohz_full=* ]] || want=precise
  n=$(attempts "$name.doctor")
  log=$name.doctor.$n
  json=$(json "$log")
  if [[ $json ]]; then
    rung=$(jq -r .rung <<<"$json")
    accounting=$(jq -r .accounting <<<"$json")
    [[ $rung == "$expected" ]] || problems+=("rung is $rung, not $expected")
    [[ $accounting == "$want" ]] || problems+=("accounting is $accounting, not $want")
    [[ $(jq -r .kernel <<<"$json") =~ ^Linux\ ${kernel/./\\.}[^0-9] ]] || problems+=("the kernel is another")
    [[ $(jq -r .libc <<<"$json") == "glibc $libc" ]] || problems+=("the C library is another")
    [[ $(jq -r .jdk <<<"$json") =~ \ $jdk[.+-] ]] || problems+=("the JDK is another")
  fi
  why=$(why_doctor "$log")
  doctor=${why:-holds}
  if [[ $why == split && $want == tick ]]; then
    doctor="holds, but split: $(jq -r '.contract.splitErrorMaxNanos / 1e5 | round / 10' <<<"$json") ms"
  elif [[ $why ]]; then
    problems+=("doctor: $why")
  fi
  doctor+=$(earlier doctor "$name.doctor" "$expected")
  # What is refused wrongly now and then is slow; what is used wrongly even once is wrong.
  if [[ $expected == syscall && $doctor == *rseq* ]]; then problems+=('doctor: used another rung'); fi
  [[ $why == exit* || $doctor != *@(crashed|exit code)* ]] || problems+=('doctor: crashed')
  if [[ $steps == *contract* ]]; then
    n=$(attempts "$name.contract")
    log=$name.contract.$n
    passed=$(count successful "$log")
    failed=$(count failed "$log")
    contract="${passed:-0} passed, ${failed:-none} failed$(earlier contract "$name.contract" "$expected")"
    why=$(why_contract "$log")
    [[ ! $why ]] || problems+=("contract: $why")
    if [[ $expected == syscall ]] && grep -q 'shouldUseTheRung.*\[X\]' "$name".contract.*; then
      problems+=('contract: used another rung')
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
  local verdict=ok
  if ((${#problems[@]})); then
    verdict=$(printf '; %s' "${problems[@]}")
    verdict="**FAILED**: ${verdict#; }"
  fi
  echo "| $kernel | ${boot:--} | $jdk | $libc | ${tunable/plain/-} | $rung | $accounting | $doctor | $contract |" \
    "$agent | $verdict |"
}

# ---- the boots

rows=$logs/rows.md
: >"$rows"
declare -A release runtime
for kernel in "${kernels[@]}"; do
  for boot in '' nohz_full=0-1 rseq_debug=1; do
    folder=$logs/$kernel${boot:+-${boot%%=*}}
    mkdir -p "$folder" "$work/list"
    combinations "$kernel" "$boot" >"$work/list/work"
    (cat "$work/root.cpio" && archive "$work/list") >"$work/boot.cpio"
    steps=$(cut -d' ' -f5- "$work/list/work" | wc -w)
    if [[ ! -e $folder/done ]]; then
      echo "run.sh: kernel $kernel $boot: $(wc -l <"$work/list/work") combinations" >&2
      rm -f "$folder"/*
      seconds=$((300 + 150 * steps))
      if "$here/guest.sh" "$cache/kernels/vmlinuz-$kernel" "$work/boot.cpio" "$folder/out" $seconds $boot; then
        touch "$folder/done"
      else
        echo "run.sh: kernel $kernel $boot: not done within $seconds s, or QEMU failed: see $folder/out.console" >&2
      fi
      split_log "$folder"
    fi
    while read -r -a combination; do
      row "$kernel" "$boot" "$folder" "${combination[@]}"
    done <"$work/list/work" | tee -a "$rows" >&2
    for jdk in "${jdks[@]}"; do
      [[ ${needs[$jdk]} ]] || continue
      for tunable in - rseq=0; do
        echo "| $kernel | ${boot:--} | $jdk | ${libc_version[host]} | $tunable | - | - | - | - | - |" \
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
  echo "By \`matrix/run.sh\`, with two processors emulated by" \
    "$(qemu-system-x86_64 --version | sed -n '1s/ (.*//p') (${MATRIX_ACCEL:-tcg})."
  [[ ! $clock ]] || echo '**The clock is not the one that was built, but that of another jar (`-c`).**'
  echo
  echo "- combinations: $(number ' ok \|$') ok, $failed failed, $(number 'not run:') not run"
  echo "- attempts that were followed by another: $(grep -oE 'attempt [0-9]' "$rows" | wc -l)"
  echo "- TaskClock: $(<"$logs/commit")"
  for kernel in "${kernels[@]}"; do echo "- kernel $kernel: ${release[$kernel]:-unknown}"; done
  for jdk in "${jdks[@]}"; do echo "- JDK $jdk: ${runtime[$jdk]:-unknown}"; done
  echo "- glibc: ${libc_version[host]} of the host, ${libc_version[new]} of Debian sid"
  echo '- tunable: rseq=0 is `GLIBC_TUNABLES=glibc.pthread.rseq=0`'
  echo "- doctor: \"but split\", in $(number 'but split') combinations with ticks: further from getrusage than a tick and 1 ms,"
  echo '  which is not judged where ticks are emulated and come late: see `run.sh --help`'
  echo '- ContractTest, agent: - where another combination of this boot has its turn'
  echo '- attempt N: why it had to be repeated; of doctor, the rung that it found if it was another'
  echo
  echo '| kernel | arguments | JDK | glibc | tunable | rung | accounting | doctor: the contract | ContractTest | agent | verdict |'
  echo '|---|---|---|---|---|---|---|---|---|---|---|'
  sort -t'|' -k 2,2V -k 3,3 -k 4,4n -k 5,5V -k 6,6 "$rows"
} >"$out"
echo "run.sh: $failed failed: see $out, and the logs in $logs" >&2
((failed == 0)) || exit 1
