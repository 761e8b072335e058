// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.security.ProtectionDomain;

/**
 * Loads what the agent consists of: the classes of this package once more, and under {@link #HIDDEN} in the agent's jar
 * the clock and the libraries, where no other class loader looks.
 */
final class AgentLoader extends ClassLoader {
    static final String HIDDEN = "META-INF/taskclock/";

    private static final String OWN_PACKAGE = Agent.class.getPackageName() + '.';

    static {
        registerAsParallelCapable();
    }

    private final ClassLoader jar = Agent.class.getClassLoader();
    private final ProtectionDomain domain = Agent.class.getProtectionDomain();

    AgentLoader() {
        super("taskclock", ClassLoader.getPlatformClassLoader());
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        String file = name.replace('.', '/') + ".class";
        String path = name.startsWith(OWN_PACKAGE) ? file : HIDDEN + file;
        try (InputStream in = jar.getResourceAsStream(path)) {
            if (in == null) throw new ClassNotFoundException(name);
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    @Override
    protected URL findResource(String name) {
        return jar.getResource(HIDDEN + name);
    }
}
