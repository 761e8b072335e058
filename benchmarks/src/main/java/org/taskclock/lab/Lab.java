// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What the command line runs for {@code taskclock bench} and {@code taskclock experiment}, in a JVM with JMH. */
@Command(
        name = "taskclock",
        subcommands = {})
final class Lab implements Runnable {
    private Lab() {}

    @Override
    public void run() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Lab()).execute(args));
    }
}
