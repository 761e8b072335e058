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
 * Loads what the agent consists of: the classes of this package once more, and under {@link #HIDDEN} in the agent's jar
 * the clock and the libraries, where no other class loader looks.
 *
 * <p>This class itself is known on both sides. Nothing public of it leads a program to what the agent may do: what the two
 * sides have to give each other, they can give once. As a BiConsumer it loads a native library for a class; the clock asks
 * its class loader for that.
 */
public final class AgentLoader extends ClassLoader implements BiConsumer<Class<?>, String>, Runnable {
    static final String HIDDEN = "META-INF/taskclock/";

    /** What is needed at the start of a program, in this order. */
    private static final String[] AT_START = {
        "org.taskclock.Rungs",
        "org.taskclock.Library",
        "org.taskclock.ExtractedLibrary",
        "org.taskclock.JniBinding",
        "org.taskclock.Startup",
        "org.taskclock.agent.VirtualThreads",
        "org.taskclock.agent.VirtualAccounts",
        "org.taskclock.agent.Yields",
        "org.taskclock.agent.ThreadTimes",
        "org.taskclock.agent.OtherThreads"
    };

    private static final String OWN_PACKAGE = Agent.class.getPackageName() + '.';

    /** What the JVM gave the agent; null once the agent has taken it. */
    private Instrumentation jvm;

    /** The agent itself: options, and whether the program runs already, to state. Null before it was loaded. */
    private BiFunction<String, Boolean, String> agency;

    /** Loads a native library for a class in a way for which JDK 24 and later print no warning. */
    private BiConsumer<Class<?>, String> libraries;

    private final ProtectionDomain domain = Agent.class.getProtectionDomain();
    private final File jar;

    /** Kept open: whoever attached us may remove the jar, and some classes are needed later. Null before the first use. */
    private JarFile opened;

    static {
        registerAsParallelCapable();
    }

    AgentLoader(Instrumentation jvm) throws URISyntaxException {
        super("taskclock", ClassLoader.getPlatformClassLoader());
        this.jvm = jvm;
        this.jar = new File(domain.getCodeSource().getLocation().toURI());
    }

    /** For the agent, as it is loaded. Throws IllegalStateException afterwards. */
    public synchronized Instrumentation connect(
            BiFunction<String, Boolean, String> agency, BiConsumer<Class<?>, String> libraries) {
        if (jvm == null) throw new IllegalStateException("only for the agent itself");
        this.agency = agency;
        this.libraries = libraries;
        Instrumentation taken = jvm;
        jvm = null;
        return taken;
    }

    synchronized BiFunction<String, Boolean, String> agency() {
        return agency;
    }

    /** In a thread of its own, while the thread that starts the program opens java.lang: loads what comes next. */
    @Override
    public void run() {
        try {
            for (String name : AT_START) Class.forName(name, false, this);
        } catch (ClassNotFoundException | LinkageError e) {
            return; // whoever needs it will see
        }
    }

    @Override
    public void accept(Class<?> owner, String path) {
        if (owner.getClassLoader() != this) throw new IllegalArgumentException(owner + " is not a class of the agent");
        libraries.accept(owner, path);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.equals(AgentLoader.class.getName())) return AgentLoader.class;
        String file = name.replace('.', '/') + ".class";
        try {
            byte[] bytes = read(name.startsWith(OWN_PACKAGE) ? file : HIDDEN + file);
            if (bytes == null) throw new ClassNotFoundException(name);
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** One of the files beside the hidden classes; null if there is none. */
    @Override
    public InputStream getResourceAsStream(String name) {
        try {
            byte[] bytes = read(HIDDEN + name);
            return bytes == null ? null : new ByteArrayInputStream(bytes);
        } catch (IOException e) {
            return null;
        }
    }

    /** Not by URL, which costs a start milliseconds. */
    private synchronized byte[] read(String path) throws IOException {
        if (opened == null) opened = new JarFile(jar, false);
        ZipEntry entry = opened.getEntry(path);
        if (entry == null) return null;
        try (InputStream bytes = opened.getInputStream(entry)) {
            return bytes.readAllBytes();
        }
    }
}
