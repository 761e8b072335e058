#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# guest.sh VMLINUZ INITRAMFS OUT SECONDS [KERNEL ARGUMENT...]
#
# Boots a kernel on two emulated processors, with the cpio archive INITRAMFS as its root, and waits until it powers off.
# The guest's output to ttyS1 goes to OUT, its console to OUT.console. On aarch64, there is only ttyAMA0 for both. Exits
# with 1 if the guest is not done after SECONDS. Booting takes about 10 s, on aarch64 twice as long. Needs QEMU and 3 GB
# of memory, on aarch64 5 GB. Time is inaccurate under emulation, so do not use a guest for timing. MATRIX_ACCEL=kvm is
# faster if it is available; MATRIX_ARCH is the architecture, x86_64 (default) or aarch64.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
(($# >= 4)) || usage 2
kernel=$1 initramfs=$2 out=$3 seconds=$4
shift 4

need "qemu-system-$arch" "$qemu_package" timeout coreutils
for file in "$kernel" "$initramfs"; do [[ -r $file ]] || die "$file: not readable: specify an existing file"; done

options=(-accel "${MATRIX_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 -nodefaults -no-reboot -display none)
options+=(-kernel "$kernel" -initrd "$initramfs")
if [[ $arch == aarch64 ]]; then
  options+=(-machine virt,gic-version=3 -m 4500 -serial "file:$out")
  arguments="console=ttyAMA0 quiet loglevel=1 panic=-1 $*"
else
  options+=(-m 2500 -serial "file:$out.console" -serial "file:$out")
  # tsc=reliable: make the guest trust its time-stamp counter, like a kernel on a real processor.
  arguments="console=ttyS0 panic=-1 tsc=reliable $*"
fi
timeout "$seconds" "qemu-system-$arch" "${options[@]}" -append "$arguments" </dev/null || exit 1
