// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Takes thread dumps of several processes at the same time, in the ways in which exporter and serve do. */
public final class ReplyMemoryProgram {
    private static final int ROUNDS = 2;

    private ReplyMemoryProgram() {}

    /** Arguments: process ids. Prints a line for each dump, and ends with an error if one of the threads does. */
    public static void main(String[] pids) throws InterruptedException, ExecutionException {
        ExecutorService readers = Executors.newFixedThreadPool(2 * pids.length);
        List<Callable<String>> tasks = new ArrayList<>();
        for (String pid : pids) {
            tasks.add(() -> stack(Long.parseLong(pid)));
            tasks.add(() -> report(Long.parseLong(pid)));
        }
        for (int i = 0; i < ROUNDS; i++)
            for (Future<String> answer : readers.invokeAll(tasks)) System.out.println(answer.get());
        System.exit(0);
    }

    private static String stack(long pid) {
        try {
            return "stack of " + ThreadStacks.of(pid, 1).size() + " lines";
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static String report(long pid) {
        try {
            return "report " + AgentReport.request(AttachClient.of(pid), 10_000);
        } catch (IOException e) {
            return e.getMessage();
        }
    }
}
