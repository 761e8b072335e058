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
 * Single reads of the kernel's clocks, bound by FFM. Older JDKs have another class of this name, bound by JNI, over the
 * same C functions. Callers check {@link Library#isLoaded()} first.
 *
 * <p>Calls are critical, without the change of thread state that makes JNI three times as dear: what they do is over
 * within a microsecond, so no safepoint waits for them. {@link #processNanos} visits every thread and is not.
 */
@SuppressWarnings("restricted") // calling C is what this class is for
final class Native {
    private static final FunctionDescriptor NANOS = FunctionDescriptor.of(JAVA_LONG);
    private static final FunctionDescriptor NANOS_OF_ID = FunctionDescriptor.of(JAVA_LONG, JAVA_INT);

    private static final MethodHandle MH$cpuNanos;
    private static final MethodHandle MH$userNanos;
    private static final MethodHandle MH$systemNanos;
    private static final MethodHandle MH$nowCpuNanos;
    private static final MethodHandle MH$nowUserNanos;
    private static final MethodHandle MH$clockNanos;
    private static final MethodHandle MH$processNanos;
    private static final MethodHandle MH$tickStamp;
    private static final MethodHandle MH$virtualNanos;

    static {
        long[] function = new long[8];
        Library.functions(function);
        MH$cpuNanos = critical(function[0], NANOS);
        MH$userNanos = critical(function[1], NANOS);
        MH$systemNanos = critical(function[2], NANOS);
        MH$nowCpuNanos = critical(function[3], NANOS);
        MH$nowUserNanos = critical(function[4], NANOS);
        MH$clockNanos = critical(function[5], NANOS_OF_ID);
        MH$processNanos = handle(function[5], NANOS_OF_ID);
        MH$tickStamp = critical(function[6], NANOS);
        MH$virtualNanos = critical(function[7], NANOS_OF_ID);
    }

    private Native() {}

    private static MethodHandle critical(long address, FunctionDescriptor type) {
        return handle(address, type, Linker.Option.critical(false));
    }

    private static MethodHandle handle(long address, FunctionDescriptor type, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(address), type, options);
    }

    static String binding() {
        return "FFM";
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

    /** Takes one reading and returns its cpu; {@link #nowUserNanos()} tells the user part of it, on the same thread. */
    static long nowCpuNanos() {
        return call(MH$nowCpuNanos);
    }

    static long nowUserNanos() {
        return call(MH$nowUserNanos);
    }

    /** The clock with this id, -1 if it cannot be read. */
    static long clockNanos(int id) {
        return call(MH$clockNanos, id);
    }

    /** The same, for clocks that may take long to read. */
    static long processNanos(int id) {
        return call(MH$processNanos, id);
    }

    /** A number that changes at each tick of the kernel. */
    static long tickStamp() {
        return call(MH$tickStamp);
    }

    /** Of the virtual thread that calls, by the numbers of {@link VirtualTimes}; -1 if nobody accounts for it. */
    static long virtualNanos(int what) {
        return call(MH$virtualNanos, what);
    }

    // Once inlined, the handle is a constant again, and the call as direct as if it were written out.
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

    /** A downcall throws nothing; what comes here are errors of the JVM itself. */
    private static AssertionError unexpected(Throwable e) {
        return new AssertionError(e);
    }
}
