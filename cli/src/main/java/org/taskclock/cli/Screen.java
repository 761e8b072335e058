// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jline.utils.AttributedString;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Frames;
import org.taskclock.watch.Frames.Jvm;
import org.taskclock.watch.Row;

/**
 * The terminal interface. One thread draws and decides; one looks at the JVM, so that a target that hangs does not hang the screen;
 * one reads keys. All that happens comes to the first by a queue.
 */
final class Screen {
    /** The first interval is short, so that there is something to see at once. */
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final int FAR = 60;

    /** Something that is to be done by the thread that draws. */
    interface Event {
        void happen() throws IOException;
    }

    /**
     * @param count of intervals, after which it ends; 0 for no end
     * @param limit of threads shown; 0 for none
     */
    record Options(double intervalSeconds, int count, boolean color, Column sort, String filter, int limit) {}

    /** @param why there was no more to be seen; empty if the user had seen enough */
    record End(boolean shown, String why) {}

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final Background background = new Background(events);
    private final View view = new View();
    private List<Frames> sources;
    private final List<Frames> opened = new ArrayList<>();
    private final int count;
    private int seen;
    private Tty tty;
    private boolean done;

    /** When to look next, and since when an answer is awaited; 0 for not. */
    private long due = System.nanoTime() + FIRST_NANOS;

    private long asked;

    /** Why there was no more to be seen; empty if it was the user who had seen enough. */
    private String why = "";

    private Screen(List<? extends Frames> sources, Options options) {
        this.sources = List.copyOf(sources);
        this.count = options.count();
        view.intervalSeconds = options.intervalSeconds();
        view.color = options.color() && System.getenv("NO_COLOR") == null;
        view.sort = options.sort();
        view.filter(options.filter());
        view.limit = options.limit();
        view.recorded = sources.stream().anyMatch(Frames::canStep);
        if (view.recorded) due = System.nanoTime();
    }

    /**
     * Shows them until the user has seen enough.
     *
     * @return at once and with nothing shown, where the terminal cannot be taken over
     */
    static End run(List<? extends Frames> sources, Options options) throws IOException {
        Screen screen = new Screen(sources, options);
        screen.tty = Tty.open(screen.events, screen::key, screen::redraw, screen::quit);
        if (screen.tty == null) return new End(false, "");
        try {
            screen.loop();
        } finally {
            screen.tty.close();
            screen.leaveLast();
            screen.background.end();
            for (Frames frames : screen.opened) frames.close();
        }
        return new End(true, screen.why);
    }

    /** What was seen last stays on the normal screen if it was not the user who ended it. */
    private void leaveLast() throws IOException {
        if (view.frames.isEmpty() || (!view.ended && (count == 0 || seen < count))) return;
        view.page = View.Page.ROWS;
        view.selected = -1;
        StringBuilder text = new StringBuilder();
        for (AttributedString line : Layout.draw(view, tty.columns(), tty.rows())) {
            if (line.length() > 0) text.append(line.toString().stripTrailing()).append('\n');
        }
        Main.print(text.toString());
    }

    private void loop() throws IOException {
        redraw();
        while (!done) {
            Event event;
            try {
                event = events.poll(Math.max(0, timeout()), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                return;
            }
            if (event != null) {
                event.happen();
                // What came meanwhile is drawn at once with it.
                for (Event next = events.poll(); next != null && !done; next = events.poll()) next.happen();
            }
            look();
            if (!done) draw();
        }
    }

    private long timeout() {
        if (asked != 0) return HANGS_NANOS;
        return view.paused || view.ended ? Long.MAX_VALUE : due - System.nanoTime();
    }

    /** Starts the next look if it is time, or says that the last one is still not answered. */
    private void look() {
        long now = System.nanoTime();
        if (asked != 0) {
            if (now - asked >= HANGS_NANOS) {
                view.message = "No answer for " + (now - asked) / 1_000_000_000 + " s: the process may be stopped";
            }
            return;
        }
        if (view.paused || view.ended || now - due < 0) return;
        due = now + (long) (view.intervalSeconds * 1e9);
        if (view.page == View.Page.JVMS) listJvms(); // their figures are those since the last time
        List<Frames> from = sources;
        Row row = view.page == View.Page.STACKS ? view.stacksOf : null;
        Frames source = row == null ? null : source(row.pid());
        await(() -> {
            List<Frame> frames = new ArrayList<>();
            List<Frames> left = new ArrayList<>(from);
            String gone = "";
            for (Frames each : from) {
                try {
                    Frame frame = each.next();
                    if (frame == null) return () -> pause("End of the recording: [ goes back");
                    frames.add(frame);
                } catch (IOException e) {
                    left.remove(each);
                    if (left.isEmpty()) throw e;
                    gone = e.getMessage(); // the others go on
                }
            }
            String message = gone;
            String stacks = row == null || !left.contains(source) ? null : source.stacks(row);
            return () -> {
                sources = left;
                accept(frames, stacks);
                if (!message.isEmpty()) view.message = message;
            };
        });
    }

    private void await(Background.Question question) {
        asked = System.nanoTime();
        background.ask(
                () -> {
                    Event answer = question.ask();
                    return () -> {
                        asked = 0;
                        answer.happen();
                    };
                },
                why -> {
                    asked = 0;
                    end(why);
                });
    }

    private void pause(String message) {
        view.paused = true;
        view.message = message;
    }

    private void end(String message) {
        view.ended = true;
        why = message;
        view.message = message + ": what is shown is the last that was seen";
    }

    private void accept(List<Frame> frames, String stacks) {
        view.accept(frames);
        if (stacks != null) view.stacks = stacks;
        if (view.message.startsWith("No answer")) view.message = "";
        seen++;
        if (count > 0 && seen >= count) done = true;
    }

    private void quit() {
        done = true;
    }

    private void redraw() throws IOException {
        tty.clear();
        draw();
    }

    private void draw() throws IOException {
        tty.draw(Layout.draw(view, tty.columns(), tty.rows()));
    }

    private void key(String key) throws IOException {
        switch (Keys.press(view, key, Layout.page(view, tty.rows()))) {
            case NONE -> {}
            case QUIT -> done = true;
            case REDRAW -> redraw();
            case SUSPEND -> {
                tty.suspend();
                redraw();
            }
            case PACE -> due = System.nanoTime() + (view.paused ? 0 : (long) (view.intervalSeconds * 1e9));
            case STACKS -> stacks();
            case LIST_JVMS -> {
                view.jvms = List.of();
                view.scroll = 0;
                view.page = View.Page.JVMS;
                listJvms();
            }
            case OPEN_JVM -> openJvm();
            case BACK -> step(-1);
            case ON -> step(1);
            case FAR_BACK -> step(-FAR);
            case FAR_ON -> step(FAR);
        }
    }

    private void stacks() {
        if (view.ended) {
            view.stacks = "The process is gone.";
            return;
        }
        Row row = view.stacksOf;
        Frames source = source(row.pid());
        later(() -> {
            String stacks = source.stacks(row);
            return () -> view.stacks = stacks;
        });
    }

    private Frames source(int pid) {
        for (int i = 0; i < view.frames.size() && i < sources.size(); i++) {
            if (view.frames.get(i).pid() == pid) return sources.get(i);
        }
        return sources.get(0);
    }

    private void listJvms() {
        later(() -> {
            List<Jvm> jvms = sources.get(0).jvms();
            return () -> view.acceptJvms(jvms);
        });
    }

    private void openJvm() {
        int pid = view.jvms.get(view.scroll).pid();
        later(() -> {
            Frames frames = sources.get(0).open(pid);
            return () -> {
                opened.add(frames);
                sources = List.of(frames);
                view.forget();
                view.frames = List.of();
                view.arrange();
                view.ended = false;
                why = "";
                view.paused = false;
                view.message = "";
                due = System.nanoTime() + FIRST_NANOS;
            };
        });
    }

    private void step(int steps) {
        if (!sources.get(0).canStep()) {
            view.message = "This is live: there is nothing to go back to";
            return;
        }
        view.paused = true;
        later(() -> {
            Frame frame = sources.get(0).step(steps);
            return () -> {
                view.forget();
                view.accept(List.of(frame));
            };
        });
    }

    /** Asks what is not a look: a failure is said, and ends nothing. */
    private void later(Background.Question question) {
        background.ask(question, why -> {
            if (view.page == View.Page.STACKS) view.stacks = why;
            else if (!view.ended) view.message = why;
        });
    }
}
