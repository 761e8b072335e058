// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import java.util.stream.Collectors;
import org.taskclock.watch.Jvms;
import org.taskclock.watch.Unwatchable;

/** Which JVM is meant by what stands on the command line. */
final class Choice {
    private static final int MOMENT_MILLIS = 200;

    private Choice() {}

    /** A process id, or a part of a program's name. Of several that have it, the busiest; with {@code only} it must be one. */
    static long of(String word, boolean only) throws Target.Failure, InterruptedException {
        if (word.matches("[0-9]{1,10}")) return Long.parseLong(word);
        List<Jvms.Jvm> named = Jvms.named(word);
        if (named.isEmpty()) {
            throw new Target.Failure(Main.NO_PROCESS, "no JVM has \"" + word + "\" in its name: " + list(Jvms.all()));
        }
        if (only && named.size() > 1) {
            throw new Target.Failure(Main.USAGE, "more than one JVM has \"" + word + "\" in its name: " + list(named));
        }
        return Jvms.busiest(named, MOMENT_MILLIS).pid();
    }

    /** The busiest of all; -1 if there is none. */
    static long busiest() throws InterruptedException {
        Jvms.Jvm found = Jvms.busiest(Jvms.all(), MOMENT_MILLIS);
        return found == null ? -1 : found.pid();
    }

    private static String list(List<Jvms.Jvm> jvms) {
        return jvms.isEmpty()
                ? "there is none at all"
                : "there " + (jvms.size() == 1 ? "is " : "are ")
                        + jvms.stream().map(j -> j.pid() + " " + j.name()).collect(Collectors.joining(", "));
    }

    static int complain(Unwatchable e) {
        return Main.complain(
                e.getMessage(),
                switch (e.reason()) {
                    case GONE -> Main.NO_PROCESS;
                    case NOT_PERMITTED -> Main.NOT_PERMITTED;
                    case NO_JVM -> Main.FAILED;
                });
    }
}
