// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.io.File;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.VMSupport;

/**
 * The properties that the JVM gives to tools that attach (the command agentProperties), and one more, whose value is made on
 * request. So a tool can ask each second, and there is no port, no connection and no thread for it. Other tools ask for these
 * properties too, so the report is made only while a certain file exists, which the tool that wants it creates.
 *
 * <p>A view of the JVM's own properties, which stay in use: the management agent (jdk.internal.agent.Agent) takes them, starts
 * its connector, and only then stores the connector's address in what it took.
 */
final class TaskClockReport extends Properties {
    private static final long serialVersionUID = 1;

    private static final String KEY = "taskclock.report";

    /** Makes the report; null: there is none. */
    private static volatile Supplier<String> source;
    /** Exists while a tool wants the report. */
    private static volatile File request;

    private final transient Properties jvms;

    private TaskClockReport(Properties jvms) {
        this.jvms = jvms;
    }

    /** Sets what makes the report. Null, or why that cannot be. */
    static String set(Supplier<String> from, String requestPath) {
        request = new File(requestPath);
        source = from;
        if (from == null) return null;
        try {
            synchronized (VMSupport.class) {
                Properties now = VMSupport.getAgentProperties();
                if (now instanceof TaskClockReport) return null;
                var field = VMSupport.class.getDeclaredField("agentProps");
                Unsafe unsafe = Unsafe.getUnsafe();
                unsafe.putReferenceVolatile(
                        unsafe.staticFieldBase(field), unsafe.staticFieldOffset(field), new TaskClockReport(now));
            }
            return VMSupport.getAgentProperties() instanceof TaskClockReport ? null : "it was not taken";
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return "the properties of attached tools are not as known: " + e;
        }
    }

    private static boolean isWanted() {
        return source != null && request.exists();
    }

    @Override
    public String getProperty(String key) {
        if (!KEY.equals(key)) return jvms.getProperty(key);
        try {
            Supplier<String> from = source;
            return from == null || !isWanted() ? "" : from.get();
        } catch (Throwable e) {
            TaskClockHooks.failed("report", e);
            return "";
        }
    }

    @Override
    public String getProperty(String key, String otherwise) {
        String value = getProperty(key);
        return value == null ? otherwise : value;
    }

    @Override
    public Set<String> stringPropertyNames() {
        Set<String> names = new HashSet<>(jvms.stringPropertyNames());
        if (isWanted()) names.add(KEY);
        return names;
    }

    // ---- the JVM's own

    @Override
    public Object get(Object key) {
        return jvms.get(key);
    }

    @Override
    public Object put(Object key, Object value) {
        return jvms.put(key, value);
    }

    @Override
    public Object setProperty(String key, String value) {
        return jvms.setProperty(key, value);
    }

    @Override
    public void putAll(Map<?, ?> all) {
        jvms.putAll(all);
    }

    @Override
    public Object remove(Object key) {
        return jvms.remove(key);
    }

    @Override
    public boolean containsKey(Object key) {
        return jvms.containsKey(key);
    }

    @Override
    public int size() {
        return jvms.size();
    }

    @Override
    public boolean isEmpty() {
        return jvms.isEmpty();
    }

    @Override
    public Set<Object> keySet() {
        return jvms.keySet();
    }

    @Override
    public Collection<Object> values() {
        return jvms.values();
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        return jvms.entrySet();
    }
}
