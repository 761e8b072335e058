// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.VMSupport;

/**
 * The properties that the JVM gives to attached tools (command agentProperties), plus two whose values are generated on
 * request. A tool can request the report every second, without a port, a permanent connection, or an extra thread.
 * Other tools read these properties too, so the report is generated only while a request file exists, which the
 * requesting tool creates. In the same way, a tool changes the agent's options with a command file: if it loaded the
 * agent again, the JVM would print its warning again.
 *
 * <p>This is a view of the JVM's own properties, which stay in use: the management agent (jdk.internal.agent.Agent)
 * gets them, starts its connector, and only then stores the connector's address in the same object.
 */
final class TaskClockReport extends Properties {
    private static final long serialVersionUID = 1;

    private static final String REPORT = "taskclock.report";
    /** The reply to a command. */
    private static final String STATE = "taskclock.state";

    /** Longer commands are ignored. */
    private static final long MAX_COMMAND_BYTES = 10_000;
    /** Older commands were left by a tool that was killed. */
    private static final long MAX_COMMAND_MILLIS = 60_000;

    // In st_mode.
    private static final int FILE_TYPE = 0170000;
    private static final int REGULAR_FILE = 0100000;
    private static final int WRITABLE_BY_OTHERS = 022;

    /** Generates the report; null if there is none. */
    private static volatile Supplier<String> source;
    /** The file that exists while a tool requests the report. */
    private static volatile File requestFile;
    /** The file with options, which a tool writes. */
    private static volatile File commandFile;

    /** The file of the last command, and its reply: several tools may read the properties while it exists. */
    private static Object lastCommand;

    private static String lastState = "";

    private final transient Properties jvmProperties;

    private TaskClockReport(Properties jvmProperties) {
        this.jvmProperties = jvmProperties;
    }

    /** Sets the source of the report. Returns null on success, or else the reason for the failure. */
    static String set(Supplier<String> newSource, String requestPath, String commandPath) {
        requestFile = new File(requestPath);
        commandFile = new File(commandPath);
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

    private static String report() {
        Supplier<String> current = source;
        return current == null || !isRequested() ? "" : current.get();
    }

    /** Executes the command, unless this was done before, and returns its reply, or "" if there is no valid command. */
    private static synchronized String state() throws IOException {
        Path file = commandFile.toPath();
        Map<String, Object> attributes = Files.readAttributes(
                file, "unix:uid,mode,nlink,ino,size,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
        if (!isCommand(attributes)) return "";
        List<Object> command = List.of(attributes.get("ino"), attributes.get("lastModifiedTime"));
        if (command.equals(lastCommand)) return lastState;
        String text = Files.readString(file);
        if (!text.endsWith("\n")) return ""; // it is still being written
        lastCommand = command;
        lastState = ""; // in case of a failure
        String state = TaskClockHooks.configure(text.strip(), true);
        if (state != null) lastState = state;
        return lastState;
    }

    /** Returns whether a file was written by this user or root, whom the JVM lets attach, and not by another user. */
    private static boolean isCommand(Map<String, Object> attributes) throws IOException {
        int mode = (int) attributes.get("mode");
        int owner = (int) attributes.get("uid");
        long age = System.currentTimeMillis() - ((FileTime) attributes.get("lastModifiedTime")).toMillis();
        return (mode & FILE_TYPE) == REGULAR_FILE
                && (mode & WRITABLE_BY_OTHERS) == 0
                && (owner == 0 || owner == (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"))
                // A hard link may lead to a file that its owner wrote for another purpose.
                && (int) attributes.get("nlink") == 1
                && (long) attributes.get("size") <= MAX_COMMAND_BYTES
                && Math.abs(age) <= MAX_COMMAND_MILLIS;
    }

    @Override
    public String getProperty(String key) {
        if (!REPORT.equals(key) && !STATE.equals(key)) return jvmProperties.getProperty(key);
        try {
            return REPORT.equals(key) ? report() : state();
        } catch (IllegalArgumentException e) {
            return "failed: " + e.getMessage();
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
        if (isRequested()) names.add(REPORT);
        if (commandFile.exists()) names.add(STATE);
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
