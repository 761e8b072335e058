// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.security.ProtectionDomain;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * The class loader of the agent. It loads its own copy of the classes of this package, and the clock and its
 * dependencies from {@link #HIDDEN} in the agent's jar, where no other class loader looks.
 *
 * <p>Both copies of the package share this class. Its public methods do not give a program the agent's privileges:
 * {@link #connect} works only once. The clock uses its class loader as a BiConsumer that loads a native library for a
 * class.
 */
public final class AgentLoader extends ClassLoader implements BiConsumer<Class<?>, String>, Runnable {
    static final String HIDDEN = "META-INF/taskclock/";

    /** The classes that are needed while the program starts, in loading order. */
    private static final String[] PRELOADED = {
        "org.taskclock.Backends",
        "org.taskclock.Library",
        "org.taskclock.ExtractedLibrary",
        "org.taskclock.JniBinding",
        "org.taskclock.StartupThread",
        "org.taskclock.agent.VirtualThreadPatch",
        "org.taskclock.agent.VirtualAccounts",
        "org.taskclock.agent.YieldControl",
        "org.taskclock.agent.ThreadTimes",
        "org.taskclock.agent.ThreadUserTimes"
    };

    private static final String OWN_PACKAGE = Agent.class.getPackageName() + '.';

    /** Null once the controller has taken it. */
    private Instrumentation instrumentation;

    /**
     * Takes the options and whether the program is already running, and returns the state. Null before the controller
     * is loaded.
     */
    private BiFunction<String, Boolean, String> controller;

    /** Loads a native library for a class without a warning on JDK 24 and later. */
    private BiConsumer<Class<?>, String> libraryLoader;

    private final ProtectionDomain domain = Agent.class.getProtectionDomain();
    private final File file;

    /**
     * Kept open because some classes are loaded later, and the jar may be deleted after attaching. This opens no file:
     * the JVM's own class loader keeps the jar of every agent open, and the JDK shares the descriptor. Null before the
     * first use.
     */
    private JarFile jar;

    static {
        registerAsParallelCapable();
    }

    AgentLoader(Instrumentation instrumentation) throws URISyntaxException {
        super("taskclock", ClassLoader.getPlatformClassLoader());
        this.instrumentation = instrumentation;
        this.file = new File(domain.getCodeSource().getLocation().toURI());
    }

    /** Connects the controller when it is loaded. Throws IllegalStateException on any later call. */
    public synchronized Instrumentation connect(
            BiFunction<String, Boolean, String> controller, BiConsumer<Class<?>, String> libraryLoader) {
        if (instrumentation == null) throw new IllegalStateException("only for the agent itself");
        this.controller = controller;
        this.libraryLoader = libraryLoader;
        Instrumentation taken = instrumentation;
        instrumentation = null;
        return taken;
    }

    synchronized BiFunction<String, Boolean, String> controller() {
        return controller;
    }

    /** Loads the classes needed next on a separate thread, while the thread that starts the program opens java.lang. */
    @Override
    public void run() {
        try {
            for (String name : PRELOADED) Class.forName(name, false, this);
        } catch (ClassNotFoundException | LinkageError e) {
            return; // the first use of the class fails with the same error
        }
    }

    @Override
    public void accept(Class<?> owner, String path) {
        if (owner.getClassLoader() != this) throw new IllegalArgumentException(owner + " is not a class of the agent");
        libraryLoader.accept(owner, path);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.equals(AgentLoader.class.getName())) return AgentLoader.class;
        String path = name.replace('.', '/') + ".class";
        try {
            byte[] bytes = read(name.startsWith(OWN_PACKAGE) ? path : HIDDEN + path);
            if (bytes == null) throw new ClassNotFoundException(name);
            return define(name, bytes);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private Class<?> define(String name, byte[] bytes) {
        try {
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (LinkageError e) {
            // The transformer of another agent, or another thread, has loaded the class in the meantime.
            Class<?> defined = findLoadedClass(name);
            if (defined == null) throw e;
            return defined;
        }
    }

    /**
     * Returns a new object, so that no lock is held while a class is defined. The transformers of other agents then
     * load more of our classes, and two threads that hold locks for each other's classes would wait forever.
     */
    @Override
    protected Object getClassLoadingLock(String name) {
        return new Object();
    }

    /** Returns a file from {@link #HIDDEN}, or null if it does not exist. */
    @Override
    public InputStream getResourceAsStream(String name) {
        try {
            byte[] bytes = read(HIDDEN + name);
            return bytes == null ? null : new ByteArrayInputStream(bytes);
        } catch (IOException e) {
            return null;
        }
    }

    /** Reads a file from the jar without URLs, which would add milliseconds to the start. */
    private synchronized byte[] read(String path) throws IOException {
        if (jar == null) jar = new JarFile(file, false);
        ZipEntry entry = jar.getEntry(path);
        if (entry == null) return null;
        try (InputStream bytes = jar.getInputStream(entry)) {
            return bytes.readAllBytes();
        }
    }
}
