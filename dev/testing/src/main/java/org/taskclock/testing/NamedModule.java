// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;

/** Loads a jar as a named module, for tests of its descriptor. */
public final class NamedModule {
    private NamedModule() {}

    /**
     * Returns the loader of a module and of those that it requires. It shares only the JDK's classes with its caller.
     *
     * @param types a class of each of the jars that the module path consists of
     */
    public static ClassLoader load(String name, Class<?>... types) {
        Path[] jars = Stream.of(types).map(NamedModule::jar).toArray(Path[]::new);
        Configuration modules =
                ModuleLayer.boot().configuration().resolve(ModuleFinder.of(jars), ModuleFinder.of(), Set.of(name));
        return ModuleLayer.boot()
                .defineModulesWithOneLoader(modules, ClassLoader.getPlatformClassLoader())
                .findLoader(name);
    }

    private static Path jar(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
