// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** A native call that does nothing, with the library's binding: FFM here, JNI before JDK 22. */
@SuppressWarnings("restricted") // this class calls C
final class EmptyCall {
    private static final MethodHandle MH$empty_call;

    static {
        TimeStampCounter.load();
        MH$empty_call = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.loaderLookup().find("empty_call").orElseThrow(),
                        FunctionDescriptor.of(JAVA_LONG),
                        Linker.Option.critical(false));
    }

    private EmptyCall() {}

    static long call() {
        try {
            return (long) MH$empty_call.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
