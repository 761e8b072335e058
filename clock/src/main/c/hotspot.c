// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Finds the kernel's thread id of a HotSpot JavaThread without stopping the JVM. libjvm exports tables that describe
// its fields to serviceability tools (vmStructs.hpp). They give the offset of the OSThread pointer in a JavaThread, and
// that of the id in an OSThread.

#include "taskclock.h"

// Null unless libjvm was loaded with global visibility, as the java launcher does.
extern const char *gHotSpotVMStructs __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryArrayStride __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryTypeNameOffset __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryFieldNameOffset __attribute__((weak));
extern const uint64_t gHotSpotVMStructEntryOffsetOffset __attribute__((weak));

static uint64_t osthread_offset, thread_id_offset;
static int offsets_known;

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
        // JDK 21 and earlier describe the field in JavaThread, later JDKs in its base class Thread.
        if (strings_equal(field, "_osthread") && (strings_equal(type, "JavaThread") || strings_equal(type, "Thread"))) {
            osthread_offset = offset;
            osthread_found = 1;
        }
        if (strings_equal(field, "_thread_id") && strings_equal(type, "OSThread")) {
            thread_id_offset = offset;
            thread_id_found = 1;
        }
    }
    return offsets_known = osthread_found && thread_id_found;
}

// Safe even if the JavaThread is freed concurrently.
static int read_memory(uint64_t address, void *into, uint64_t length) {
    return copy_memory(address, into, length) == 0;
}

// The caller must read java_thread from the Thread object before and after the call. The result is valid only if both
// values are the same.
int32_t hotspot_tid(uint64_t java_thread) {
    uint64_t osthread;
    int32_t tid;
    if (!offsets_known || !java_thread) return -1;
    if (!read_memory(java_thread + osthread_offset, &osthread, sizeof osthread) || !osthread) return -1;
    if (!read_memory(osthread + thread_id_offset, &tid, sizeof tid) || tid <= 0) return -1;
    // Signal 0 only checks whether this process has such a thread.
    return SYSCALL(__NR_tgkill, SYSCALL(__NR_getpid), tid, 0) == 0 ? tid : -1;
}
