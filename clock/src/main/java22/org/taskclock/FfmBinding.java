// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The functions of {@link Native}, called through FFM.
 *
 * <p>Calls are critical: they skip the thread state transition that makes JNI three times as expensive. They return
 * within a microsecond, so they do not delay a safepoint. {@link #processNanos} visits every thread and is therefore
 * not critical.
 */
@SuppressWarnings("restricted") // this class exists to call C
final class FfmBinding {
    private static final FunctionDescriptor NANOS = FunctionDescriptor.of(JAVA_LONG);
    private static final FunctionDescriptor NANOS_OF_ID = FunctionDescriptor.of(JAVA_LONG, JAVA_INT);

    private static final MethodHandle MH$cpuNanos = critical("cpuNanos", NANOS);
    private static final MethodHandle MH$userNanos = critical("userNanos", NANOS);
    private static final MethodHandle MH$systemNanos = critical("systemNanos", NANOS);
    private static final MethodHandle MH$nowCpuNanos = critical("nowCpuNanos", NANOS);
    private static final MethodHandle MH$nowUserNanos = critical("nowUserNanos", NANOS);
    private static final MethodHandle MH$clockNanos = critical("clockNanos", NANOS_OF_ID);
    private static final MethodHandle MH$processNanos = handle("clockNanos", NANOS_OF_ID);
    private static final MethodHandle MH$tickStamp = critical("tickStamp", NANOS);
    private static final MethodHandle MH$virtualNanos = critical("virtualNanos", NANOS_OF_ID);

    /** More than the 127 calls after which the JDK generates a class for a method handle (MethodHandle.customize). */
    private static final int WARM_UP_CALLS = 200;

    private static final int OWN_CPU = ClockId.encode(0, true, ClockId.Kind.SCHED);

    private FfmBinding() {}

    private static MethodHandle critical(String function, FunctionDescriptor type) {
        return handle(function, type, Linker.Option.critical(false));
    }

    private static MethodHandle handle(String function, FunctionDescriptor type, Linker.Option... options) {
        MemorySegment address = MemorySegment.ofAddress(Library.address(function));
        return Linker.nativeLinker().downcallHandle(address, type, options);
    }

    /** Makes the JDK generate its classes now rather than during the program's calls. */
    static void warmUp() {
        for (int i = 0; i < WARM_UP_CALLS; i++) {
            cpuNanos();
            userNanos();
            systemNanos();
            nowCpuNanos();
            nowUserNanos();
            clockNanos(OWN_CPU);
            processNanos(OWN_CPU);
            tickStamp();
            virtualNanos(VirtualThreadClock.CPU);
        }
    }

    static long cpuNanos() {
        return call(MH$cpuNanos);
    }

    static long userNanos() {
        return call(MH$userNanos);
    }

    static long systemNanos() {
        return call(MH$systemNanos);
    }

    static long nowCpuNanos() {
        return call(MH$nowCpuNanos);
    }

    static long nowUserNanos() {
        return call(MH$nowUserNanos);
    }

    static long clockNanos(int id) {
        return call(MH$clockNanos, id);
    }

    static long processNanos(int id) {
        return call(MH$processNanos, id);
    }

    static long tickStamp() {
        return call(MH$tickStamp);
    }

    static long virtualNanos(int value) {
        return call(MH$virtualNanos, value);
    }

    // Once this is inlined, the handle is a constant and the call is direct.
    private static long call(MethodHandle function) {
        try {
            return (long) function.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static long call(MethodHandle function, int id) {
        try {
            return (long) function.invokeExact(id);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** A downcall throws nothing; only errors of the JVM itself get here. */
    private static AssertionError unexpected(Throwable e) {
        return new AssertionError(e);
    }
}
