// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import jdk.internal.vm.annotation.ForceInline;
import org.taskclock.internal.JdkVersions;

/**
 * The calls to the clock at each mount and unmount. At first they go through JNI. On JDK 22 and later, calls without a
 * thread state transition replace them once they are linked, which takes longer than many programs run.
 */
final class TaskClockCalls implements Runnable {
    private static final int DELAY_MILLIS = 200;

    /**
     * Enough calls for the JVM to spin a class for a method handle (java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD,
     * 127 calls) and to compile a method. Neither may happen during a mount.
     */
    private static final int WARM_UP_CALLS = 6_000;

    private TaskClockCalls() {}

    /** The linked calls. This is a separate class because JDKs before 22 lack the classes that it uses. */
    private static final class Critical {
        private static final ValueLayout NANOS = ValueLayout.JAVA_LONG;
        private static final MethodHandle MOUNT =
                handle(TaskClockHooks.mountAddress(), FunctionDescriptor.of(NANOS, NANOS, NANOS));
        private static final MethodHandle UNMOUNT =
                handle(TaskClockHooks.unmountAddress(), FunctionDescriptor.of(NANOS));
        private static final MethodHandle MOUNT_CONTEXT =
                handle(TaskClockHooks.mountContextAddress(), FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

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

        @ForceInline
        static void mountContext(long record) throws Throwable {
            MOUNT_CONTEXT.invokeExact(record);
        }
    }

    /** Returns the address of the carrier's record, or 0 if there is no memory for one. */
    @ForceInline
    static long mount(long cpu, long user) throws Throwable {
        return TaskClockHooks.isLinked ? Critical.mount(cpu, user) : TaskClockHooks.mount(cpu, user);
    }

    /** Returns the CPU time that the thread has used so far. */
    @ForceInline
    static long unmount() throws Throwable {
        return TaskClockHooks.isLinked ? Critical.unmount() : TaskClockHooks.unmount();
    }

    /** Makes profilers find this record for the calling carrier; none if it is 0, no change if it is negative. */
    @ForceInline
    static void mountContext(long record) throws Throwable {
        if (TaskClockHooks.isLinked) Critical.mountContext(record);
        else TaskClockHooks.mountContext(record);
    }

    static void linkSoon() {
        if (TaskClockHooks.isLinked || Runtime.version().feature() < JdkVersions.FOREIGN_FUNCTIONS) return;
        Thread thread = new Thread(null, new TaskClockCalls(), "taskclock-linker", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void sleep() {
        try {
            Thread.sleep(DELAY_MILLIS);
        } catch (InterruptedException e) {
            return; // the program interrupts all threads; linking early is harmless
        }
    }

    /** Links everything that a mount needs ahead of time, because a mount must not wait. */
    @Override
    public void run() {
        try {
            sleep();
            for (int i = 0; i < WARM_UP_CALLS; i++) {
                Critical.mount(0, 0);
                Critical.unmount();
                Critical.mountContext(-1);
            }
            TaskClockHooks.isLinked = true;
        } catch (Throwable e) {
            TaskClockHooks.failed("link", e); // the calls keep going through JNI
        } finally {
            TaskClockHooks.stopCarrying();
        }
    }
}
