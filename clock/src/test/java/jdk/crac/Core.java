// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The part of CRaC's class that the library uses, and a simulated checkpoint and restore. */
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

    /** Notifies all resources as a checkpoint and restore would. Returns the number of resources. */
    public static int simulateRestore() throws Exception {
        for (Resource resource : RESOURCES) {
            resource.beforeCheckpoint(GLOBAL);
            resource.afterRestore(GLOBAL);
        }
        return RESOURCES.size();
    }
}
