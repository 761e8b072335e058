// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Asks a JVM, which may hang, in a thread of its own, one question after the other. */
final class Background {
    /** Its answer is what is done next by the thread that draws. */
    interface Question {
        Screen.Event ask() throws IOException;
    }

    private final Queue<Screen.Event> events;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "taskclock-watch");
        thread.setDaemon(true);
        return thread;
    });

    Background(Queue<Screen.Event> events) {
        this.events = events;
    }

    /** @param failed is told why, by the thread that draws too */
    void ask(Question question, Consumer<String> failed) {
        thread.execute(() -> {
            Screen.Event answer;
            try {
                answer = question.ask();
            } catch (IOException | RuntimeException e) {
                String why = e instanceof IOException && e.getMessage() != null ? e.getMessage() : e.toString();
                answer = () -> failed.accept(why);
            }
            events.add(answer);
        });
    }

    /** Whatever is not answered yet never is. */
    void end() {
        thread.shutdownNow();
    }
}
