#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# guest.sh VMLINUZ INITRAMFS OUT SECONDS [KERNEL ARGUMENT...]
#
# Boots a kernel on two emulated processors, with the cpio archive INITRAMFS as its root, and waits until it powers off.
# The guest's output to ttyS1 goes to OUT, its console to OUT.console. Exits with 1 if the guest is not done after
# SECONDS. Booting takes about 10 s. Needs qemu-system-x86_64 and 3 GB of memory. Time is inaccurate under emulation, so
# do not use a guest for timing. MATRIX_ACCEL=kvm is faster if it is available.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
(($# >= 4)) || usage 2
kernel=$1 initramfs=$2 out=$3 seconds=$4
shift 4

need qemu-system-x86_64 qemu-system-x86 timeout coreutils
for file in "$kernel" "$initramfs"; do [[ -r $file ]] || die "$file: not readable: specify an existing file"; done

# tsc=reliable: make the guest trust its time-stamp counter, like a kernel on a real processor.
timeout "$seconds" qemu-system-x86_64 -accel "${MATRIX_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 -m 2500 -nodefaults \
  -no-reboot -display none -serial "file:$out.console" -serial "file:$out" -kernel "$kernel" -initrd "$initramfs" \
  -append "console=ttyS0 panic=-1 tsc=reliable $*" </dev/null || exit 1
