// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
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

    private final BiFunction<String, Object[], Object> calls;

    private Hooks(BiFunction<String, Object[], Object> calls) {
        this.calls = calls;
    }

    /** Defines the hooks. They can load libraries, but {@link #connect} has to come before anything else. */
    @SuppressWarnings("unchecked") // as the class is declared
    static Hooks define(Instrumentation jvm) throws Refused {
        try {
            Class<?> type = define(jvm, Thread.class, "java.lang.TaskClockHooks");
            return new Hooks((BiFunction<String, Object[], Object>) instance(type, "taskclock.hooks"));
        } catch (ReflectiveOperationException | IOException | LinkageError | RuntimeException e) {
            throw new Refused("cannot install the hooks in java.lang: " + e, e);
        }
    }

    /** Loads the libraries. */
    void connect(AgentLoader loader) throws Refused {
        try {
            // First the clock, as ours will look for it.
            if (Rung.inUse() == Rung.MXBEAN) throw new Refused(refusal());
            load(loader);
            if (!(boolean) call("findClock")) throw new Refused("cannot find the clock's library");
        } catch (IOException | LinkageError | RuntimeException e) {
            throw new Refused("cannot load the agent's library: " + e, e);
        }
    }

    /** Why the clock counts not by itself. */
    private static String refusal() {
        for (ClockStatus.Verdict verdict : TaskClock.status().rungs()) if (!verdict.usable()) return verdict.reason();
        return "switched off";
    }

    /**
     * Initializes a class that leaves an instance of itself in the system properties, and takes it from there: reflection would
     * cost a start milliseconds.
     */
    static Object instance(Class<?> type, String key) throws ClassNotFoundException {
        synchronized (Runtime.getRuntime()) {
            Class.forName(type.getName(), true, null);
            return System.getProperties().remove(key);
        }
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

    /** Java's id of a thread, whatever its class says. */
    long threadId(Thread thread) {
        return (long) call("threadId", thread);
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
            File path = new File(given).getAbsoluteFile();
            File file = new File(path.isDirectory() ? path : path.getParentFile(), LIBRARY);
            if (!file.isFile()) throw new Refused("there is no file " + file + ": put it beside the clock's library");
            call("load", file.toString());
            return;
        }
        File directory = privateDirectory();
        File file = new File(directory, LIBRARY);
        try (InputStream in = loader.getResourceAsStream(LIBRARY)) {
            try (FileOutputStream out = new FileOutputStream(file)) {
                in.transferTo(out);
            }
            call("load", file.toString());
        } finally {
            // A mapped library needs no name.
            file.delete();
            directory.delete();
        }
    }

    /** As {@code org.taskclock.ExtractedLibrary} makes its own, and for the same reasons. */
    private static File privateDirectory() throws IOException {
        String name = "taskclock-agent-" + Long.toHexString(System.nanoTime());
        File directory = new File(System.getProperty("java.io.tmpdir"), name);
        if (!directory.mkdir()) Files.createDirectory(directory.toPath()); // fails again, and says why
        boolean isPrivate = directory.setReadable(false, false)
                && directory.setWritable(false, false)
                && directory.setExecutable(false, false)
                && directory.setReadable(true, true)
                && directory.setWritable(true, true)
                && directory.setExecutable(true, true);
        String[] names = directory.list();
        if (!isPrivate || names == null || names.length > 0) {
            throw new IOException(directory + " cannot be closed to other users");
        }
        return directory;
    }

    /** Calls what {@code TaskClockHooks.apply} knows by this name. */
    Object call(String what, Object... with) {
        return calls.apply(what, with);
    }
}
