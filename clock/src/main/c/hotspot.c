// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// From HotSpot's JavaThread to the kernel's thread id, without stopping the JVM. libjvm exports tables that describe its
// fields to serviceability tools (vmStructs.hpp); they name where a JavaThread keeps its OSThread, and that its id.

#include "taskclock.h"

// Present when libjvm was loaded for all to see, as the java launcher does; null otherwise.
extern const char *gHotSpotVMStructs __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryArrayStride __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryTypeNameOffset __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryFieldNameOffset __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryOffsetOffset __attribute__((weak));

static uint64_t osthread_offset, thread_id_offset;
static int described;

int hotspot_init(void) {
    if (!&gHotSpotVMStructs || !&gHotSpotVMStructEntryArrayStride || !&gHotSpotVMStructEntryTypeNameOffset ||
        !&gHotSpotVMStructEntryFieldNameOffset || !&gHotSpotVMStructEntryOffsetOffset)
        return 0;
    int osthread_found = 0, thread_id_found = 0;
    for (const char *entry = gHotSpotVMStructs; entry; entry += gHotSpotVMStructEntryArrayStride) {
        const char *type = *(const char *const *)(entry + gHotSpotVMStructEntryTypeNameOffset);
        const char *field = *(const char *const *)(entry + gHotSpotVMStructEntryFieldNameOffset);
        if (!type || !field) break;
        uint64_t offset = *(const uint64_t *)(entry + gHotSpotVMStructEntryOffsetOffset);
        // JDK 21 and older describe the field in JavaThread, later ones in Thread, its base class.
        if (same(field, "_osthread") && (same(type, "JavaThread") || same(type, "Thread"))) {
            osthread_offset = offset;
            osthread_found = 1;
        }
        if (same(field, "_thread_id") && same(type, "OSThread")) {
            thread_id_offset = offset;
            thread_id_found = 1;
        }
    }
    return described = osthread_found && thread_id_found;
}

// A JavaThread may be freed while we look at it.
static int read_memory(uint64_t address, void *into, uint64_t length) { return copy_memory(address, into, length) == 0; }

// The caller reads java_thread out of the Thread object before and after: only if it is the same is the answer true.
int32_t hotspot_tid(uint64_t java_thread) {
    uint64_t osthread;
    int32_t tid;
    if (!described || !java_thread) return -1;
    if (!read_memory(java_thread + osthread_offset, &osthread, sizeof osthread) || !osthread) return -1;
    if (!read_memory(osthread + thread_id_offset, &tid, sizeof tid) || tid <= 0) return -1;
    // Signal 0 is not sent; it only asks whether this process has such a thread.
    return SYSCALL(__NR_tgkill, SYSCALL(__NR_getpid), tid, 0) == 0 ? tid : -1;
}
