// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Calls of the clock at each mount and unmount: where the JDK has them, without a change of thread state. */
final class TaskClockCalls {
    private static final boolean CRITICAL = Runtime.version().feature() >= 22;

    private static final MethodHandle MOUNT = CRITICAL ? Critical.mount() : null;
    private static final MethodHandle UNMOUNT = CRITICAL ? Critical.unmount() : null;

    private TaskClockCalls() {}

    /** Apart, as older JDKs do not know these classes. */
    private static final class Critical {
        static MethodHandle mount() {
            ValueLayout nanos = ValueLayout.JAVA_LONG;
            return handle(TaskClockHooks.mountAddress(), FunctionDescriptor.of(nanos, nanos, nanos));
        }

        static MethodHandle unmount() {
            return handle(TaskClockHooks.unmountAddress(), FunctionDescriptor.of(ValueLayout.JAVA_LONG));
        }

        private static MethodHandle handle(long address, FunctionDescriptor type) {
            MemorySegment function = MemorySegment.ofAddress(address);
            return Linker.nativeLinker().downcallHandle(function, type, Linker.Option.critical(false));
        }
    }

    /** Returns where the carrier's record is; 0 if it can have none. */
    static long mount(long cpu, long user) {
        if (!CRITICAL) return TaskClockHooks.mount(cpu, user);
        try {
            return (long) MOUNT.invokeExact(cpu, user);
        } catch (Throwable e) {
            return 0; // of the JVM itself
        }
    }

    /** Returns what the thread has used. */
    static long unmount() {
        if (!CRITICAL) return TaskClockHooks.unmount();
        try {
            return (long) UNMOUNT.invokeExact();
        } catch (Throwable e) {
            return 0;
        }
    }
}
