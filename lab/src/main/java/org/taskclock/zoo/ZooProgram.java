// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import com.google.gson.Gson;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Runs a program of the zoo until standard input ends. Prints a line when its threads run, and one when it begins to
 * misbehave. Arguments: the name of the program, and how many seconds it works normally.
 */
public final class ZooProgram {
    /**
     * A line of output.
     *
     * @param beginMillis when it began to misbehave, since 1970; 0 if it has just started
     */
    public record Line(long pid, long beginMillis) {}

    private ZooProgram() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Misbehavior program = Misbehaviors.of(args[0]);
        program.start();
        print(0);
        Threads.daemon("timer", () -> {
                    Threads.pause((long) (Double.parseDouble(args[1]) * 1e9));
                    print(System.currentTimeMillis());
                    Threads.misbehave();
                })
                .start();
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(0);
    }

    private static void print(long beginMillis) {
        System.out.println(new Gson().toJson(new Line(ProcessHandle.current().pid(), beginMillis)));
    }
}
