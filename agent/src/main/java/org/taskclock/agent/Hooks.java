// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.taskclock.ClockStatus;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * The way to {@code java.lang.TaskClockHooks}, which is defined and loads the agent's library when it is first needed. As a
 * BiConsumer it loads the library of a class.
 */
final class Hooks implements BiConsumer<Class<?>, String> {
    private static final String LIBRARY = "libtaskclock-agent-linux-x86_64.so";

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final BiFunction<String, Object[], Object> calls;

    private Hooks(BiFunction<String, Object[], Object> calls) {
        this.calls = calls;
    }

    static Hooks install(AgentLoader loader) throws Refused {
        try {
            Hooks hooks = new Hooks(instance(define(loader.jvm, Thread.class, "java.lang.TaskClockHooks")));
            loader.libraries = hooks;
            // First the clock, as ours will look for it.
            if (Rung.inUse() == Rung.MXBEAN) throw new Refused(refusal());
            hooks.load(loader);
            if (!(boolean) hooks.call("findClock")) throw new Refused("cannot find the clock's library");
            return hooks;
        } catch (ReflectiveOperationException | IOException | LinkageError | RuntimeException e) {
            throw new Refused("cannot install the hooks in java.lang: " + e, e);
        }
    }

    /** Why the clock counts not by itself. */
    private static String refusal() {
        for (ClockStatus.Verdict verdict : TaskClock.status().rungs()) if (!verdict.usable()) return verdict.reason();
        return "switched off";
    }

    @SuppressWarnings("unchecked")
    private static BiFunction<String, Object[], Object> instance(Class<?> type) throws ReflectiveOperationException {
        Field instance = type.getDeclaredField("INSTANCE");
        instance.setAccessible(true);
        return (BiFunction<String, Object[], Object>) instance.get(null);
    }

    /** Defines a class of ours beside one of the JDK's, whose package is opened to us, and to nobody else. */
    static Class<?> define(Instrumentation jvm, Class<?> neighbour, String name)
            throws IllegalAccessException, IOException {
        Map<String, Set<Module>> opened = Map.of(neighbour.getPackageName(), Set.of(Hooks.class.getModule()));
        jvm.redefineModule(neighbour.getModule(), Set.of(), Map.of(), opened, Set.of(), Map.of());
        try (InputStream in = Hooks.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return MethodHandles.privateLookupIn(neighbour, MethodHandles.lookup())
                    .defineClass(in.readAllBytes());
        }
    }

    /** Adds a service to the module of its class. */
    static void provide(Instrumentation jvm, Class<?> service, Class<?> provider) {
        Map<Class<?>, List<Class<?>>> provided = Map.of(service, List.of(provider));
        jvm.redefineModule(provider.getModule(), Set.of(), Map.of(), Map.of(), Set.of(), provided);
    }

    @Override
    public void accept(Class<?> owner, String path) {
        call("loadFor", owner, path);
    }

    /** From {@code -Dtaskclock.library.path}, as the clock's library, or out of the jar. */
    private void load(AgentLoader loader) throws IOException, Refused {
        String given = System.getProperty("taskclock.library.path");
        if (given != null) {
            Path path = Path.of(given).toAbsolutePath();
            Path file = (Files.isDirectory(path) ? path : path.getParent()).resolve(LIBRARY);
            if (!Files.isRegularFile(file))
                throw new Refused("there is no file " + file + ": put it beside the clock's library");
            call("load", file.toString());
            return;
        }
        // Not by the JDK's createTempDirectory, whose random names cost a start 20 ms; the name need not be secret.
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        Path directory = Files.createDirectory(
                parent.resolve("taskclock-agent-" + Long.toHexString(System.nanoTime())), OWNER_ONLY);
        Path file = directory.resolve(LIBRARY);
        try (InputStream in = loader.getResourceAsStream(LIBRARY)) {
            Files.copy(in, file);
            call("load", file.toString());
        } finally {
            // A mapped library needs no name.
            Files.deleteIfExists(file);
            Files.deleteIfExists(directory);
        }
    }

    /** Calls what {@code TaskClockHooks.apply} knows by this name. */
    Object call(String what, Object... with) {
        return calls.apply(what, with);
    }
}
