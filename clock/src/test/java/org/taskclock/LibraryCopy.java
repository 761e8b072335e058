// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A copy of the library in its own class loader, relocated or not. */
final class LibraryCopy implements AutoCloseable {
    static final String PACKAGE = "org.taskclock";

    private static final List<String> FUNCTIONS = List.of("cpuNanos", "nowUserNanos", "clockNanos", "virtualNanos");

    private final URLClassLoader loader;
    private final String packageName;
    private final Method cpuNanos;
    private final Method userNanos;
    private final Method systemNanos;
    private final Method read;

    LibraryCopy(Path jar, String packageName) {
        try {
            loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
        this.packageName = packageName;
        cpuNanos = method("TaskClock", "cpuNanos");
        userNanos = method("TaskClock", "userNanos");
        systemNanos = method("TaskClock", "systemNanos");
        read = method("TaskClock", "read", long[].class);
    }

    long cpuNanos() {
        return (long) call(cpuNanos, null);
    }

    long userNanos() {
        return (long) call(userNanos, null);
    }

    long systemNanos() {
        return (long) call(systemNanos, null);
    }

    CpuTime now() {
        long[] into = new long[3];
        call(read, null, into);
        return new CpuTime(into[0], into[1], into[2]);
    }

    /** Opens and closes a section of one of the copy's accounts, and returns the CPU time that the account counted. */
    long accountNanos() {
        Object account = call(method("CpuAccount", "create"), null);
        enterAndClose(account);
        return (long) call(method("CpuAccount", "cpuNanos"), account);
    }

    /** Returns a type of named accounts. */
    Object accountType(String name) {
        return call(method("CpuAccounts", "type", String.class), null, name);
    }

    /** Returns a named account. */
    Object account(Object type, String name) {
        return call(method("AccountType", "of", String.class), type, name);
    }

    /** Opens and closes a section of one of the copy's accounts. */
    void enterAndClose(Object account) {
        call(method("CpuSection", "close"), call(method("CpuAccount", "enter"), account));
    }

    /** Returns the CPU time of the rows of a type, by name. */
    Map<String, Long> rows(Object type) {
        Object reading = call(method("AccountType", "read"), type);
        Map<String, Long> rows = new HashMap<>();
        for (Object row : (List<?>) call(method("AccountReading", "accounts"), reading)) {
            rows.put((String) call(method("AccountUsage", "name"), row), (long)
                    call(method("AccountUsage", "cpuNanos"), row));
        }
        return rows;
    }

    /** Opens a section of a named account. */
    AutoCloseable enter(String type, String account) {
        Object accounts = call(method("CpuAccounts", "type", String.class), null, type);
        Object found = call(method("AccountType", "of", String.class), accounts, account);
        Object section = call(method("CpuAccount", "enter"), found);
        return () -> call(method("CpuSection", "close"), section);
    }

    /** Returns a component of the copy's status as text. */
    String status(String component) {
        Object status = call(method("TaskClock", "status"), null);
        return String.valueOf(call(method("ClockStatus", component), status));
    }

    void selectBackend(int backend) {
        call(method("Library", "selectBackend", int.class), null, backend);
    }

    /** Does what a JDK that reports a restore from a checkpoint asks for. */
    void restore() {
        call(method("Backends", "selectAfterRestore"), null);
    }

    /** Returns the addresses of the native functions that this copy calls. */
    long[] functions() {
        Method address = method("Library", "address", String.class);
        return FUNCTIONS.stream()
                .mapToLong(function -> (long) call(address, null, function))
                .toArray();
    }

    WeakReference<ClassLoader> loader() {
        return new WeakReference<>(loader);
    }

    private Method method(String className, String name, Class<?>... parameters) {
        try {
            Method method = loader.loadClass(packageName + "." + className).getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    private static Object call(Method method, Object target, Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(method.toString(), e);
        }
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
