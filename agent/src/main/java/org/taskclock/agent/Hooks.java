// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/** The way to {@code java.lang.TaskClockHooks}, which is defined and loads the agent's library when it is first needed. */
final class Hooks {
    private static final String NAME = "java.lang.TaskClockHooks";
    private static final String LIBRARY = "libtaskclock-agent-linux-x86_64.so";

    private final Class<?> type;

    /** Not asked of TaskClock.status(), which would make the platform's beans before the program does. */
    private Rung rung;

    private Hooks(Class<?> type) {
        this.type = type;
    }

    static Hooks install(Instrumentation jvm) throws Refused {
        open(jvm, Object.class.getModule(), "java.lang");
        try {
            Hooks hooks = new Hooks(define());
            // First, as ours will look for it.
            hooks.loadClock();
            load(hooks);
            if (!(boolean) hooks.call("findClock")) {
                throw new Refused("cannot find the clock's library: its state is "
                        + TaskClock.status().state());
            }
            return hooks;
        } catch (ReflectiveOperationException | IOException | LinkageError | RuntimeException e) {
            throw new Refused("cannot install the hooks in java.lang: " + e, e);
        }
    }

    /** Opens a package of a module of the JDK to us, and to nobody else. */
    static void open(Instrumentation jvm, Module module, String packageName) {
        Set<Module> us = Set.of(Hooks.class.getModule());
        jvm.redefineModule(module, Set.of(), Map.of(), Map.of(packageName, us), Set.of(), Map.of());
    }

    /** Loads the clock's library in a way for which JDK 24 and later print no warning. */
    private void loadClock() throws ReflectiveOperationException {
        BiConsumer<Class<?>, String> way = (owner, path) -> call("loadFor", owner, path);
        Method by = Class.forName("org.taskclock.Loading").getDeclaredMethod("by", BiConsumer.class);
        by.setAccessible(true);
        by.invoke(null, way);
        Field chosen = Class.forName("org.taskclock.Rungs").getDeclaredField("CHOSEN");
        chosen.setAccessible(true);
        rung = (Rung) chosen.get(null);
    }

    private static Class<?> define() throws IllegalAccessException, IOException {
        try (InputStream in = Hooks.class.getClassLoader().getResourceAsStream(NAME.replace('.', '/') + ".class")) {
            byte[] bytes = in.readAllBytes();
            return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                    .defineClass(bytes);
        }
    }

    /** From {@code -Dtaskclock.library.path}, as the clock's library, or out of the jar. */
    private static void load(Hooks hooks) throws IOException, Refused {
        String given = System.getProperty("taskclock.library.path");
        if (given != null) {
            Path path = Path.of(given).toAbsolutePath();
            Path file = (Files.isDirectory(path) ? path : path.getParent()).resolve(LIBRARY);
            if (!Files.isRegularFile(file))
                throw new Refused("there is no file " + file + ": put it beside the clock's library");
            hooks.call("load", file.toString());
            return;
        }
        Path directory = Files.createTempDirectory(
                "taskclock-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path file = directory.resolve(LIBRARY);
        try (InputStream in = Hooks.class.getClassLoader().getResourceAsStream(LIBRARY)) {
            Files.copy(in, file);
            hooks.call("load", file.toString());
        } finally {
            // A mapped library needs no name.
            Files.deleteIfExists(file);
            Files.deleteIfExists(directory);
        }
    }

    /** Calls a static method; its arguments are of the very types that it declares, or primitive. */
    Object call(String method, Object... arguments) {
        try {
            Method found = Arrays.stream(type.getDeclaredMethods())
                    .filter(m -> m.getName().equals(method))
                    .findFirst()
                    .orElseThrow();
            found.setAccessible(true);
            return found.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) throw error;
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The rung that was chosen. */
    Rung rung() {
        return rung;
    }

    void set(String field, Object value) {
        try {
            Field found = type.getDeclaredField(field);
            found.setAccessible(true);
            found.set(null, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
