// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Calls of the clock at each mount and unmount. By JNI at first; where the JDK has calls without a change of thread state, by
 * these once they are linked, which takes the JVM longer than many a program runs.
 */
final class TaskClockCalls implements Runnable {
    private static final int PATIENCE_MILLIS = 200;

    /**
     * Past what makes the JVM spin a class for a method handle (java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD, 127 calls),
     * and past what makes it compile a method: neither may happen in a mount.
     */
    private static final int WARM_UP_CALLS = 6_000;

    private static boolean isLinked;

    private TaskClockCalls() {}

    /** Apart, as older JDKs do not know these classes. */
    private static final class Critical {
        private static final ValueLayout NANOS = ValueLayout.JAVA_LONG;
        private static final MethodHandle MOUNT =
                handle(TaskClockHooks.mountAddress(), FunctionDescriptor.of(NANOS, NANOS, NANOS));
        private static final MethodHandle UNMOUNT =
                handle(TaskClockHooks.unmountAddress(), FunctionDescriptor.of(NANOS));

        private static MethodHandle handle(long address, FunctionDescriptor type) {
            MemorySegment function = MemorySegment.ofAddress(address);
            return Linker.nativeLinker().downcallHandle(function, type, Linker.Option.critical(false));
        }

        @ForceInline
        static long mount(long cpu, long user) throws Throwable {
            return (long) MOUNT.invokeExact(cpu, user);
        }

        @ForceInline
        static long unmount() throws Throwable {
            return (long) UNMOUNT.invokeExact();
        }
    }

    /** Returns where the carrier's record is; 0 if it can have none. */
    @ForceInline
    static long mount(long cpu, long user) throws Throwable {
        return isLinked ? Critical.mount(cpu, user) : TaskClockHooks.mount(cpu, user);
    }

    /** Returns what the thread has used. */
    @ForceInline
    static long unmount() throws Throwable {
        return isLinked ? Critical.unmount() : TaskClockHooks.unmount();
    }

    static void linkSoon() {
        if (isLinked || Runtime.version().feature() < 22) return;
        Thread thread = new Thread(null, new TaskClockCalls(), "taskclock-linker", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** Also if the program interrupts all threads. */
    private static void sleep() {
        try {
            Thread.sleep(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            return; // a little early then
        }
    }

    /** All that a mount needs is linked before it is used there, as nothing may wait there. */
    @Override
    public void run() {
        try {
            sleep();
            for (int i = 0; i < WARM_UP_CALLS; i++) {
                Critical.mount(0, 0);
                Critical.unmount();
            }
            isLinked = true;
        } catch (Throwable e) {
            TaskClockHooks.failed("link", e); // JNI does it too
        } finally {
            TaskClockHooks.stopCarrying();
        }
    }

    static boolean isLinked() {
        return isLinked;
    }
}
