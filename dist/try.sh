#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# Installs TaskClock in empty Debian systems as a new user does, in each way that docs/install.md describes, and checks
# that it works: the Debian package, the executable file, the container image, jbang, and the libraries with the BOM.
# Writes one line for each check, and exits with 1 if one failed.
#
# Usage: dist/try.sh [-m MIRROR] [-w WAY] [SUITE [MAVEN-OPTION]...]
# WAY is file, deb, image, jbang, or maven. The default is all of them, on bookworm from the mirror that debootstrap
# chooses.
#
# Needs root, debootstrap, gpg, ip, jq, Maven, and the files of "mvn install -Partifacts -DskipTests". Uses 2 GB in
# $TMPDIR.

# Programs for other shells are in single quotes.
# shellcheck disable=SC2016
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
mirror=()
ways=(file deb image jbang maven)
while getopts m:w: option; do
  case $option in
    m) mirror=("$OPTARG") ;;
    w) ways=("$OPTARG") ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
suite=${1:-bookworm}
maven=(mvn -B "${@:2}")
# Compiles, but neither compiles nor runs tests.
build=("${maven[@]}" -q -Dmaven.test.skip=true -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true)
jbang_version=0.132.1
gson_version=$(sed -n 's:.*<gson.version>\(.*\)</gson.version>:\1:p' pom.xml)

die() {
  echo "try: $1" >&2
  exit 2
}

[[ $(id -u) == 0 ]] || die 'not root: run it with sudo'
for tool in debootstrap gpg ip jq mvn unshare; do command -v "$tool" >/dev/null || die "$tool: not in PATH: install it"; done
version=$(sed -n 's:^  <version>\(.*\)</version>:\1:p' pom.xml)
deb=dist/target/taskclock_${version/-/\~}_all.deb
for file in "$deb" dist/target/taskclock cli/target/taskclock-cli.jar clock/target/bom.json; do
  [[ -f $file ]] || die "$file: not found: run mvn install -Partifacts -DskipTests"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/taskclock-try.XXXXXX")
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf --one-file-system "$work"' EXIT
failures=0

# inside ROOT [-n] [-u USER] COMMAND...: runs a command in a root directory, with process ids and an environment of its
# own. With -n, also with a network of its own, in which no other program uses the ports.
inside() {
  local directory=$work/$1 user=root namespaces=(--mount --pid)
  shift
  if [[ $1 == -n ]]; then
    namespaces+=(--net)
    shift
  fi
  if [[ $1 == -u ]]; then
    user=$2
    shift 2
  fi
  unshare "${namespaces[@]}" --fork --kill-child bash -c '
    ip link set lo up
    mount -t proc proc "$1/proc"
    exec chroot --userspec="$2" "$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 \
      HOME="$3" DEBIAN_FRONTEND=noninteractive "${@:4}"' \
    - "$directory" "$user" "$([[ $user == root ]] && echo /root || echo "/home/$user")" "$@" </dev/null
}

# check NAME EXPECTED-EXIT-CODE PATTERN COMMAND...
check() {
  local name=$1 expected=$2 pattern=$3 output code=0
  shift 3
  output=$("$@" 2>&1) || code=$?
  if [[ $code == "$expected" ]] && grep -qE -- "$pattern" <<<"$output"; then
    echo "ok      $name"
  else
    failures=$((failures + 1))
    printf 'FAILED  %s: exit code %s, expected %s and "%s":\n' "$name" "$code" "$expected" "$pattern"
    tail -n 15 <<<"$output"
  fi
}

quietly() {
  "$@" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "failed: $*"
  }
}

copy_root() {
  cp -a --reflink=auto "$work/$1" "$work/$2"
}

# Two exporters, which are JVMs to look at. The second exports the first.
watch_a_jvm='
wait_for_port() {
  for i in $(seq 60); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 1
  done
  return 1
}
taskclock exporter --web.listen-address=127.0.0.1:19464 >/tmp/exporter.log 2>&1 &
first=$!
taskclock exporter --web.listen-address=127.0.0.1:19466 >/tmp/second.log 2>&1 &
second=$!
wait_for_port 19464
wait_for_port 19466
taskclock list
taskclock top -b "$first" 0.5 2
for i in $(seq 60); do
  exec 3<>/dev/tcp/127.0.0.1/19466
  printf "GET /metrics HTTP/1.0\r\n\r\n" >&3
  grep -m 1 "^taskclock_thread_cpu_time_seconds_total{" <&3 && break
  sleep 1 # not found yet
done
kill "$first" "$second"
wait "$first"
echo "exporter: exit code $?"'

echo "Debian $suite, TaskClock $version, $(uname -m)"
quietly debootstrap --variant=minbase "$suite" "$work/empty" "${mirror[@]}"

copy_root empty java
quietly inside java apt-get -q update
quietly inside java apt-get -q -y --no-install-recommends install default-jre-headless
rm -rf "$work"/java/var/cache/apt/archives/*.deb
echo "-- Debian $(cat "$work/empty/etc/debian_version")," \
  "$(inside java java -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/Java \1/p')"

# One file.
try_file() {
  copy_root empty bare
  install -m 755 dist/target/taskclock "$work/bare/usr/local/bin/taskclock"
  check 'file: without Java, one line says what to install' 1 \
    '^taskclock: java: not in PATH.*: install a JDK 17 or later$' inside bare taskclock --version
  copy_root java file
  install -m 755 dist/target/taskclock "$work/file/usr/local/bin/taskclock"
  quietly inside file useradd --create-home user
  check 'file: taskclock --version as a user' 0 "^taskclock $version" inside file -u user taskclock --version
  inside file -n -u user bash -c "$watch_a_jvm" >"$work/watched" 2>&1 || true
  check 'file: the exporters are in the list' 0 '^ *[0-9]+ .*taskclock' cat "$work/watched"
  check 'file: top' 0 'taskclock-sampler' cat "$work/watched"
  check 'file: the exporter has metrics of the other' 0 '^taskclock_thread_cpu_time_seconds_total\{' cat "$work/watched"
  check 'file: and ends' 0 '^exporter: exit code 0$' cat "$work/watched"
  inside file -u user taskclock list >/dev/null 2>&1 || true # gives the new class archive its name
  check 'file: class archives in the home directory of the user only' 0 \
    '^/home/user/.cache/taskclock/classes-list-[^ ]*jsa$' \
    inside file bash -c 'find / -xdev -name "classes-*.jsa" | sort'
  check 'file: doctor' 0 'backend' inside file taskclock doctor
}

# The Debian package.
try_deb() {
  copy_root empty deb
  cp "$deb" "$work/deb/root/taskclock.deb"
  quietly inside deb apt-get -q update
  check 'deb: apt install ./taskclock.deb installs Java' 0 'Setting up taskclock ' \
    inside deb apt-get -y --no-install-recommends install /root/taskclock.deb
  check 'deb: taskclock --version' 0 "^taskclock $version" inside deb taskclock --version
  check 'deb: list, top, and exporter as root' 0 '^exporter: exit code 0$' inside deb -n bash -c "set -e; $watch_a_jvm"
  check 'deb: files as packaged' 0 '^verified$' inside deb bash -c 'dpkg --verify taskclock && echo verified'
  check 'deb: completion' 0 'complete .*-F ' inside deb bash -c \
    'source /usr/share/bash-completion/completions/taskclock && complete -p taskclock'
  check 'deb: manual page' 0 '^.SH .*list' inside deb bash -c 'gzip -dc /usr/share/man/man1/taskclock.1.gz'
  quietly inside deb apt-get -q -y --no-install-recommends install systemd
  check 'deb: systemd unit' 0 '^unit valid$' inside deb bash -c \
    'systemd-analyze verify --man=no taskclock-exporter.service && echo unit valid'
  check 'deb: systemctl enable' 0 'Created symlink' inside deb systemctl enable taskclock-exporter
  check 'deb: apt upgrade to the same version' 0 'Setting up taskclock ' \
    inside deb apt-get -y --reinstall install /root/taskclock.deb
  check 'deb: apt purge' 0 'Purging configuration files for taskclock' inside deb apt-get -y purge taskclock
  check 'deb: and no file is left' 1 '^$' inside deb bash -c \
    'find /etc /lib /opt /usr /var/lib/dpkg /var/lib/systemd -xdev -name "*taskclock*" | grep .'
}

# The image, on a base that is the empty system with Java.
try_image() {
  mkdir "$work/base"
  tar -C "$work/java" --exclude=./proc/* --exclude=./dev/* -cf "$work/base/layer.tar" .
  digest=$(sha256sum "$work/base/layer.tar" | cut -d' ' -f1)
  jq -n --arg digest "sha256:$digest" '{architecture: "amd64", os: "linux", config: {Env: ["PATH=/usr/bin:/bin"]},
    rootfs: {type: "layers", diff_ids: [$digest]}}' >"$work/base/config.json"
  jq -n '[{Config: "config.json", Layers: ["layer.tar"]}]' >"$work/base/manifest.json"
  tar -C "$work/base" -cf "$work/base.tar" manifest.json config.json layer.tar
  quietly "${build[@]}" -pl dist -Pimage "-Dimage.base=tar://$work/base.tar" \
    "-Djib.baseImageCache=$work/jib" "-Djib.applicationCache=$work/jib-application" package
  check 'image: layers' 0 '^check-image: [1-9]' \
    dist/check-image.sh dist/target/taskclock-image.tar 1 "$work/image"
  { dist/check-image.sh dist/target/taskclock-image.tar 1 || true; } | sed 's/^/        /'
  check 'image: taskclock --version' 0 "^taskclock $version" inside image /usr/bin/taskclock --version
  check 'image: list, top, and exporter' 0 'exporter: exit code 0' inside image -n bash -c "set -e; $watch_a_jvm"
}

# jbang, from its own jars, and the catalog with the address of this machine instead of the release.
try_jbang() {
  copy_root java jbang
  # With the version of Gson that it names, 2.10.1, it reads no alias from any catalog.
  cat >"$work/jbang.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<dependencies><dependency><groupId>dev.jbang</groupId><artifactId>jbang-cli</artifactId>
<version>$jbang_version</version></dependency><dependency><groupId>com.google.code.gson</groupId>
<artifactId>gson</artifactId><version>$gson_version</version></dependency></dependencies></project>
END
  quietly "${maven[@]}" -q -f "$work/jbang.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies "-DoutputDirectory=$work/jbang/opt/jbang"
  local jwebserver
  jwebserver=$(find /usr/lib/jvm ~/.sdkman/candidates/java ~/.jdks -maxdepth 3 -path '*/bin/jwebserver' 2>/dev/null |
    head -n 1 || true)
  [[ -n $jwebserver ]] || die 'jwebserver: not found: install JDK 22 or later'
  mkdir -p "$work/www"
  cp cli/target/taskclock-cli.jar "$work/www"
  "$jwebserver" -b 127.0.0.1 -p 19465 -d "$work/www" >"$work/www.log" 2>&1 &
  server=$!
  mkdir -p "$work/jbang/root/catalog"
  sed 's|"https://[^"]*/taskclock-cli.jar"|"http://127.0.0.1:19465/taskclock-cli.jar"|' jbang-catalog.json \
    >"$work/jbang/root/catalog/jbang-catalog.json"
  check 'jbang: taskclock --version by the alias of the catalog' 0 "^taskclock $version" \
    inside jbang bash -c 'cd /root/catalog
      code=0
      java -cp "/opt/jbang/*" dev.jbang.Main run taskclock --version >/tmp/out || code=$?
      # Otherwise, jbang prints the command that its script runs.
      if ((code == 255)); then eval "$(cat /tmp/out)"; else cat /tmp/out; exit $code; fi'
}

# The libraries, from a repository as it would be published.
try_maven() {
  # The release is signed with another key than the maintainers'.
  export GNUPGHOME=$work/gnupg
  mkdir -m 700 "$GNUPGHOME"
  quietly gpg --batch --passphrase '' --quick-generate-key 'TaskClock test <test@localhost>' ed25519 sign 1d
  local libraries=clock,agent,metrics,metrics/bindings,metrics/micrometer,metrics/opentelemetry
  quietly "${build[@]}" -Partifacts,release -pl "dist/bom,$libraries" -am \
    "-DaltDeploymentRepository=try::file://$work/repository" deploy
  for artifact in taskclock taskclock-{agent,bindings,metrics,micrometer,opentelemetry}; do
    check "maven: $artifact has sources, documentation, SBOM, checksums, and signatures" 0 '^complete$' bash -c '
      cd "$1/org/taskclock/$2"/*/ || exit
      for suffix in .jar .pom -sources.jar -javadoc.jar -cyclonedx.json; do
        set -- *[0-9]$suffix
        [[ -s $1 && -s $1.md5 && -s $1.sha1 ]] || { echo "no $suffix"; exit 1; }
        gpg -q --verify "$1.asc" "$1" 2>&1 | grep -q "Good signature" || { echo "$suffix is not signed"; exit 1; }
      done
      echo complete' - "$work/repository" "$artifact"
  done
  gpgconf --kill gpg-agent
  check 'maven: only the libraries, their parent, and the BOM' 0 \
    '^taskclock -agent -bindings -bom -metrics -micrometer -opentelemetry -parent $' \
    bash -c 'ls "$1/org/taskclock" | sed "s/^taskclock-/-/" | tr "\n" " "' - "$work/repository"
  mkdir -p "$work/project/src/main/java"
  cat >"$work/project/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release></properties>
<repositories><repository><id>try</id><url>file://$work/repository</url></repository></repositories>
<dependencyManagement><dependencies><dependency><groupId>org.taskclock</groupId><artifactId>taskclock-bom</artifactId>
<version>$version</version><type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement>
<dependencies><dependency><groupId>org.taskclock</groupId><artifactId>taskclock-metrics</artifactId></dependency>
</dependencies></project>
END
  cat >"$work/project/src/main/java/Main.java" <<'END'
public class Main {
    public static void main(String[] args) {
        System.out.println("used " + (org.taskclock.TaskClock.cpuNanos() > 0));
    }
}
END
  check 'maven: a project that imports the BOM compiles' 0 'BUILD SUCCESS' \
    "${maven[@]}" -f "$work/project/pom.xml" org.apache.maven.plugins:maven-compiler-plugin:3.14.1:compile
  check 'maven: no other versions come with the BOM' 1 '^0$' bash -c \
    'grep -c "<parent>" "$1"/org/taskclock/taskclock-bom/*/*.pom' - "$work/repository"
  cp "$work"/repository/org/taskclock/taskclock/*/taskclock-*[0-9].jar "$work/project/taskclock.jar"
  copy_root java maven
  cp -r "$work/project/taskclock.jar" "$work/project/target/classes" "$work/maven/root"
  check 'maven: and runs in the empty system' 0 '^used true$' \
    inside maven java --enable-native-access=ALL-UNNAMED -cp /root/taskclock.jar:/root/classes Main
}

for way in "${ways[@]}"; do
  declare -F "try_$way" >/dev/null || die "$way: not a way: use file, deb, image, jbang, or maven"
  "try_$way"
done
if ((failures > 0)); then
  echo "try: $failures checks failed"
  exit 1
fi
echo 'try: all checks passed'
