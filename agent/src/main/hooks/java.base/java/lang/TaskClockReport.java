// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.io.File;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.VMSupport;

/**
 * The properties that the JVM gives to tools that attach (the command agentProperties), and one more, whose value is made on
 * request. So a tool can ask each second, and there is no port, no connection and no thread for it. Other tools ask for these
 * properties too, so the report is made only while a certain file exists, which the tool that wants it creates.
 */
final class TaskClockReport extends Properties {
    private static final long serialVersionUID = 1;

    private static final String KEY = "taskclock.report";

    /** Makes the report; null: there is none. */
    private static volatile Supplier<String> source;
    /** Exists while a tool wants the report. */
    private static volatile File request;

    /** Sets what makes the report. Null, or why that cannot be. */
    static String set(Supplier<String> from, String requestPath) {
        request = new File(requestPath);
        source = from;
        if (from == null) return null;
        try {
            synchronized (VMSupport.class) {
                Properties now = VMSupport.getAgentProperties();
                if (now instanceof TaskClockReport) return null;
                TaskClockReport ours = new TaskClockReport();
                ours.putAll(now);
                var field = VMSupport.class.getDeclaredField("agentProps");
                Unsafe unsafe = Unsafe.getUnsafe();
                unsafe.putReferenceVolatile(unsafe.staticFieldBase(field), unsafe.staticFieldOffset(field), ours);
            }
            return VMSupport.getAgentProperties() instanceof TaskClockReport ? null : "it was not taken";
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return "the properties of attached tools are not as known: " + e;
        }
    }

    @Override
    public Set<String> stringPropertyNames() {
        Set<String> names = new HashSet<>(super.stringPropertyNames());
        if (isWanted()) names.add(KEY);
        return names;
    }

    private static boolean isWanted() {
        return source != null && request.exists();
    }

    @Override
    public String getProperty(String key) {
        if (!KEY.equals(key)) return super.getProperty(key);
        try {
            Supplier<String> from = source;
            return from == null || !isWanted() ? "" : from.get();
        } catch (Throwable e) {
            TaskClockHooks.failed("report", e);
            return "";
        }
    }
}
