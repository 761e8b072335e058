// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.VMSupport;

/**
 * The properties that the JVM hands out to those that attach (the command agentProperties), and one more, whose value is made when it is
 * asked for. So a tool can ask each second, and there is no port, no connection and no thread for it.
 */
final class TaskClockReport extends Properties {
    private static final long serialVersionUID = 1;

    private static final String KEY = "taskclock.report";

    /** Null: nothing is told. */
    private static volatile Supplier<String> source;

    /** Sets who tells. Null, or why that cannot be. */
    static String set(Supplier<String> from) {
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
        if (source != null) names.add(KEY);
        return names;
    }

    @Override
    public String getProperty(String key) {
        if (!KEY.equals(key)) return super.getProperty(key);
        try {
            Supplier<String> from = source;
            return from == null ? "" : from.get();
        } catch (Throwable e) {
            // The tool learns nothing; who else asks for these properties gets them.
            return "";
        }
    }
}
