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
 * <p>This class itself is known on both sides, and what they have to tell each other is in it. As a BiConsumer it loads a
 * native library for a class; the clock asks its class loader for that.
 */
public final class AgentLoader extends ClassLoader implements BiConsumer<Class<?>, String> {
    static final String HIDDEN = "META-INF/taskclock/";

    private static final String OWN_PACKAGE = Agent.class.getPackageName() + '.';

    /** What the JVM gave the agent when it was first used. */
    public final Instrumentation jvm;

    /** The agent itself: options, and whether the program runs already, to state. */
    public volatile BiFunction<String, Boolean, String> agency;

    /** Loads a native library for a class in a way for which JDK 24 and later print no warning. */
    public volatile BiConsumer<Class<?>, String> libraries;

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

    @Override
    public void accept(Class<?> owner, String path) {
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
