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
import java.util.Map;
import java.util.Set;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/** Defines the agent's classes in packages of the JDK, and loads the agent's library. */
final class Hooks {
    /** Loaded only if the clock's library is, so there is one for this architecture. */
    private static final String LIBRARY = "libtaskclock-agent-linux-"
            + (System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch")) + ".so";

    private Hooks() {}

    /** Defines the hooks. They can load libraries at once; everything else requires {@link #connect} first. */
    static TaskClockHooks define(Instrumentation instrumentation) throws FeatureException {
        try {
            return TaskClockHooks.open(defineClass(instrumentation, Thread.class, "java.lang.TaskClockHooks"));
        } catch (IllegalAccessException | IOException | LinkageError | RuntimeException e) {
            throw new FeatureException("cannot install the hooks in java.lang: " + e, e);
        }
    }

    /** Loads the libraries of the clock and of the agent. */
    static void connect(TaskClockHooks hooks, AgentLoader loader) throws FeatureException {
        try {
            // The clock first, because the agent's library looks for it.
            if (Backend.inUse() == Backend.MXBEAN) throw new FeatureException(whyNotNative());
            load(hooks, loader);
            if (!hooks.findClock()) throw new FeatureException("cannot find the clock's library");
        } catch (IOException | LinkageError | RuntimeException e) {
            throw new FeatureException("cannot load the agent's library: " + e, e);
        }
    }

    private static String whyNotNative() {
        for (ClockStatus.Verdict verdict : TaskClock.status().backends()) {
            if (!verdict.usable()) return verdict.reason();
        }
        return "switched off";
    }

    /**
     * Defines a class of ours in the package of a JDK class, unless an earlier attempt that failed later has defined
     * it. Opens the package to the agent's module only, and returns the private access to it.
     */
    static MethodHandles.Lookup defineClass(Instrumentation instrumentation, Class<?> neighbor, String name)
            throws IllegalAccessException, IOException {
        Map<String, Set<Module>> opens = Map.of(neighbor.getPackageName(), Set.of(Hooks.class.getModule()));
        instrumentation.redefineModule(neighbor.getModule(), Set.of(), Map.of(), opens, Set.of(), Map.of());
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(neighbor, MethodHandles.lookup());
        try (InputStream in = Hooks.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            lookup.defineClass(in.readAllBytes());
        } catch (LinkageError e) {
            try {
                Class.forName(name, false, neighbor.getClassLoader());
            } catch (ClassNotFoundException notDefined) {
                throw e;
            }
        }
        return lookup;
    }

    /** Loads the library from {@code -Dtaskclock.library.path}, like the clock's library, or else from the jar. */
    private static void load(TaskClockHooks hooks, AgentLoader loader) throws IOException, FeatureException {
        String given = System.getProperty("taskclock.library.path");
        if (given != null) {
            File path = new File(given).getAbsoluteFile();
            File file = new File(path.isDirectory() ? path : path.getParentFile(), LIBRARY);
            if (!file.isFile()) {
                throw new FeatureException("there is no file " + file + ": put it next to the clock's library");
            }
            hooks.load(file.toString());
            return;
        }
        File directory = privateDirectory();
        File file = new File(directory, LIBRARY);
        try (InputStream in = loader.getResourceAsStream(LIBRARY)) {
            try (FileOutputStream out = new FileOutputStream(file)) {
                in.transferTo(out);
            }
            hooks.load(file.toString());
        } finally {
            // A mapped library does not need its file.
            file.delete();
            directory.delete();
        }
    }

    /** Creates a directory in the same way, and for the same reasons, as {@code org.taskclock.ExtractedLibrary}. */
    private static File privateDirectory() throws IOException {
        String name = "taskclock-agent-" + Long.toHexString(System.nanoTime());
        File directory = new File(System.getProperty("java.io.tmpdir"), name);
        if (!directory.mkdir()) Files.createDirectory(directory.toPath()); // fails again, with the reason
        boolean isPrivate = directory.setReadable(false, false)
                && directory.setWritable(false, false)
                && directory.setExecutable(false, false)
                && directory.setReadable(true, true)
                && directory.setWritable(true, true)
                && directory.setExecutable(true, true);
        String[] names = directory.list();
        if (!isPrivate || names == null || names.length > 0) {
            throw new IOException(directory + " cannot be made private");
        }
        return directory;
    }
}
