// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;

/** Holds the keys that were pressed before the first interval, because most of them need rows. */
final class TypeAhead {
    private final List<String> keys = new ArrayList<>();
    private boolean released;

    /** Returns whether the key is held. Those that end or stop the program never are. */
    boolean hold(String key) {
        if (released) return false;
        switch (key) {
            case "Ctrl-C", "Ctrl-Z", "Ctrl-L", "F10" -> {
                return false;
            }
            default -> {}
        }
        if (key.equals("q") && keys.isEmpty()) return false;
        if (!key.startsWith(MouseBindings.PREFIX)) keys.add(key);
        return true;
    }

    /** Returns the held keys, once. None are held afterwards. */
    List<String> release() {
        released = true;
        List<String> held = List.copyOf(keys);
        keys.clear();
        return held;
    }
}
