#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# guest.sh VMLINUZ INITRAMFS OUT SECONDS [KERNEL ARGUMENT...]
#
# Boots a kernel on two emulated processors, with the cpio archive INITRAMFS as its root, and waits until it switches
# itself off. What the guest writes to ttyS1 goes to OUT, its console to OUT.console. Exit code 1 if it was not done
# after so many SECONDS. Some 10 s besides what the guest does. Needs qemu-system-x86_64 and 3 GB of memory. Emulated
# time is coarse: what a guest does is worth knowing, not how long it takes. MATRIX_ACCEL=kvm is quicker where that
# works.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"

[[ ${1:-} != -h && ${1:-} != --help ]] || usage
(($# >= 4)) || usage 2
kernel=$1 initramfs=$2 out=$3 seconds=$4
shift 4

need qemu-system-x86_64 qemu-system-x86 timeout coreutils
for file in "$kernel" "$initramfs"; do [[ -r $file ]] || die "$file: cannot be read: name a file that is there"; done

# tsc=reliable: the guest is to trust its counter, as a kernel on a real processor does.
timeout "$seconds" qemu-system-x86_64 -accel "${MATRIX_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 -m 2500 -nodefaults \
  -no-reboot -display none -serial "file:$out.console" -serial "file:$out" -kernel "$kernel" -initrd "$initramfs" \
  -append "console=ttyS0 panic=-1 tsc=reliable $*" </dev/null || exit 1
