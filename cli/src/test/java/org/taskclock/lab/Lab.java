// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Stands in benchmarks.jar's place: says what it was given. */
final class Lab {
    private Lab() {}

    public static void main(String[] args) throws IOException {
        System.out.println(List.of(args) + " rung=" + System.getProperty("taskclock.rung"));
        System.out.println("read: " + new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
        System.err.println("to standard error");
        System.exit(7);
    }
}
