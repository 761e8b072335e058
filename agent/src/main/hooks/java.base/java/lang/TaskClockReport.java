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
 * The properties that the JVM gives to attached tools (command agentProperties), plus one whose value is generated on
 * request. A tool can request the report every second, without a port, a permanent connection, or an extra thread.
 * Other tools read these properties too, so the report is generated only while a request file exists, which the
 * requesting tool creates.
 *
 * <p>This is a view of the JVM's own properties, which stay in use: the management agent (jdk.internal.agent.Agent)
 * gets them, starts its connector, and only then stores the connector's address in the same object.
 */
final class TaskClockReport extends Properties {
    private static final long serialVersionUID = 1;

    private static final String KEY = "taskclock.report";

    /** Generates the report; null if there is none. */
    private static volatile Supplier<String> source;
    /** The file that exists while a tool requests the report. */
    private static volatile File requestFile;

    private final transient Properties jvmProperties;

    private TaskClockReport(Properties jvmProperties) {
        this.jvmProperties = jvmProperties;
    }

    /** Sets the source of the report. Returns null on success, or else the reason for the failure. */
    static String set(Supplier<String> newSource, String requestPath) {
        requestFile = new File(requestPath);
        source = newSource;
        if (newSource == null) return null;
        try {
            synchronized (VMSupport.class) {
                Properties current = VMSupport.getAgentProperties();
                if (current instanceof TaskClockReport) return null;
                var field = VMSupport.class.getDeclaredField("agentProps");
                Unsafe unsafe = Unsafe.getUnsafe();
                unsafe.putReferenceVolatile(
                        unsafe.staticFieldBase(field), unsafe.staticFieldOffset(field), new TaskClockReport(current));
            }
            boolean replaced = VMSupport.getAgentProperties() instanceof TaskClockReport;
            return replaced ? null : "jdk.internal.vm.VMSupport keeps the JVM's own properties";
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return "jdk.internal.vm.VMSupport is not as expected: " + e;
        }
    }

    private static boolean isRequested() {
        return source != null && requestFile.exists();
    }

    @Override
    public String getProperty(String key) {
        if (!KEY.equals(key)) return jvmProperties.getProperty(key);
        try {
            Supplier<String> current = source;
            return current == null || !isRequested() ? "" : current.get();
        } catch (Throwable e) {
            TaskClockHooks.failed("report", e);
            return "";
        }
    }

    @Override
    public String getProperty(String key, String defaultValue) {
        String value = getProperty(key);
        return value == null ? defaultValue : value;
    }

    @Override
    public Set<String> stringPropertyNames() {
        Set<String> names = new HashSet<>(jvmProperties.stringPropertyNames());
        if (isRequested()) names.add(KEY);
        return names;
    }

    // ---- the JVM's own properties

    @Override
    public Object get(Object key) {
        return jvmProperties.get(key);
    }

    @Override
    public Object put(Object key, Object value) {
        return jvmProperties.put(key, value);
    }

    @Override
    public Object setProperty(String key, String value) {
        return jvmProperties.setProperty(key, value);
    }

    @Override
    public void putAll(Map<?, ?> all) {
        jvmProperties.putAll(all);
    }

    @Override
    public Object remove(Object key) {
        return jvmProperties.remove(key);
    }

    @Override
    public boolean containsKey(Object key) {
        return jvmProperties.containsKey(key);
    }

    @Override
    public int size() {
        return jvmProperties.size();
    }

    @Override
    public boolean isEmpty() {
        return jvmProperties.isEmpty();
    }

    @Override
    public Set<Object> keySet() {
        return jvmProperties.keySet();
    }

    @Override
    public Collection<Object> values() {
        return jvmProperties.values();
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        return jvmProperties.entrySet();
    }
}
