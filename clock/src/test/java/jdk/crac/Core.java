// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** As a JDK with CRaC has it, as far as the library uses it; and a restore without a checkpoint. */
public final class Core {
    private static final List<Resource> RESOURCES = new CopyOnWriteArrayList<>();

    private static final Context<Resource> GLOBAL = new Context<>() {
        @Override
        public void register(Resource resource) {
            RESOURCES.add(resource);
        }
    };

    private Core() {}

    public static Context<Resource> getGlobalContext() {
        return GLOBAL;
    }

    /** Returns how many were told. */
    public static int restore() throws Exception {
        for (Resource resource : RESOURCES) {
            resource.beforeCheckpoint(GLOBAL);
            resource.afterRestore(GLOBAL);
        }
        return RESOURCES.size();
    }
}
