// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jline.utils.AttributedString;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The terminal interface. The main thread handles events and draws. A second thread samples the JVM, so that a JVM that
 * hangs does not block the screen, and a third reads keys. These two send events to the main thread through a queue.
 */
final class TerminalUi {
    /** The first interval is short, so that the first figures appear at once. */
    private static final long FIRST_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final long RESPONSE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final int JUMP_INTERVALS = 60;
    private static final String NO_RESPONSE = "No response for ";
    private static final String LIVE = "Live view: nothing to rewind";

    /** An event, handled on the main thread. */
    interface Event {
        void handle() throws IOException;
    }

    /**
     * The initial settings.
     *
     * @param count number of intervals to show; 0 for no limit
     * @param limit maximum number of threads; 0 for all
     */
    record Options(
            double intervalSeconds,
            int count,
            boolean color,
            ThreadColumn sort,
            String filter,
            int limit,
            boolean showsAccounts) {}

    /**
     * The result of {@link #run}.
     *
     * @param terminalUsed false if the terminal could not be used
     * @param reason the error that ended the view; empty if the user quit
     */
    record Outcome(boolean terminalUsed, String reason) {
        /**
         * Prints the error, if any, and returns the exit code of the command.
         *
         * @param failure the exit code if there was an error
         */
        int exitCode(int failure) {
            return reason.isEmpty() ? Main.OK : Main.fail(reason, failure);
        }
    }

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final QueryExecutor queries = new QueryExecutor(events);
    private final ViewState view = new ViewState();
    private final TypeAhead typeAhead = new TypeAhead();
    private final MouseBindings mouse = new MouseBindings();
    private final SavedSettings settings;
    private final ProfileRunner profiles = new ProfileRunner(events);
    private final JvmSources sources;
    private final JvmActions actions;
    /** Null in a live view. */
    private final ReplayControl replay;

    private final int count;
    private int intervalCount;
    private Tty tty;
    private boolean quit;

    /** When the next sample is due. */
    private final Schedule schedule = new Schedule(System.nanoTime() + FIRST_INTERVAL_NANOS);

    /** The System.nanoTime at which the pending sample was requested; 0 if none is pending. */
    private long requestedAt;

    /** The error that ended the view; empty if there was none. */
    private String endReason = "";

    private TerminalUi(List<? extends IntervalSource> sources, Options options, SavedSettings settings) {
        this.sources = new JvmSources(sources);
        actions = new JvmActions(view, this.sources, queries, profiles, this::restart);
        this.count = options.count();
        view.intervalSeconds = options.intervalSeconds();
        view.color = options.color() && System.getenv("NO_COLOR") == null;
        view.sort = options.sort();
        view.filter(options.filter());
        view.limit = options.limit();
        if (options.showsAccounts()) view.accountType = "";
        replay = sources.get(0) instanceof Recording recording ? new ReplayControl(recording, view, queries) : null;
        view.isRecording = replay != null;
        if (this.sources.isChoice()) view.page = ViewState.Page.JVMS;
        if (view.isRecording) schedule.restart(System.nanoTime() + intervalNanos());
        if (this.sources.isChoice()) schedule.restart(System.nanoTime());
        this.settings = settings;
        settings.apply(view);
    }

    /** Runs until the user quits or the count is reached. Returns at once if the terminal cannot be used. */
    static Outcome run(
            List<? extends IntervalSource> sources, Options options, SavedSettings settings, boolean useMouse)
            throws IOException {
        TerminalUi ui = new TerminalUi(sources, options, settings);
        ui.tty = Tty.open(ui.events, ui::handleKey, ui::redraw, ui::quit, useMouse);
        if (ui.tty == null) return new Outcome(false, "");
        ui.view.unicode = ui.tty.isUnicode();
        try {
            ui.loop();
        } finally {
            ui.tty.close();
            ui.printLastScreen();
            ui.queries.shutdown();
            settings.close();
            ui.profiles.close();
            ui.sources.close();
        }
        return new Outcome(true, ui.endReason);
    }

    /** Prints the last interval to the normal screen, unless the user quit. */
    private void printLastScreen() throws IOException {
        if (view.intervals.isEmpty() || (!view.ended && (count == 0 || intervalCount < count))) return;
        view.page = ViewState.Page.TABLE;
        view.selected = -1;
        StringBuilder text = new StringBuilder();
        for (AttributedString line : ScreenRenderer.draw(view, tty.columns(), tty.rows())) {
            if (line.length() > 0) text.append(line.toString().stripTrailing()).append('\n');
        }
        Main.print(text.toString());
    }

    private void loop() throws IOException {
        redraw();
        if (replay != null) replay.start();
        while (!quit) {
            Event event;
            try {
                event = events.poll(Math.max(0, timeout()), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                return;
            }
            if (event != null) {
                event.handle();
                // Handle all pending events before drawing.
                for (Event next = events.poll(); next != null && !quit; next = events.poll()) next.handle();
            }
            sample();
            if (isStarted()) releaseKeys();
            settings.save(view);
            if (!quit) draw();
        }
    }

    private long timeout() {
        if (requestedAt != 0) return RESPONSE_TIMEOUT_NANOS;
        return isIdle() ? Long.MAX_VALUE : schedule.due() - System.nanoTime();
    }

    private boolean isIdle() {
        return view.paused || view.ended || actions.isOpening();
    }

    /** Requests the next sample if it is due, or shows that the previous one has not completed. */
    private void sample() {
        long now = System.nanoTime();
        if (requestedAt != 0) {
            if (now - requestedAt >= RESPONSE_TIMEOUT_NANOS) {
                view.message = NO_RESPONSE + (now - requestedAt) / 1_000_000_000 + " s: the process may be stopped";
            }
            return;
        }
        if (isIdle() || now - schedule.due() < 0) return;
        schedule.advance(now, intervalNanos());
        if (replay != null) {
            requestSample(() -> replay.next(() -> pause("End of the recording; [ steps back")));
            return;
        }
        if (view.page == ViewState.Page.JVMS) actions.listJvms(); // their CPU usage since the previous call
        if (sources.isChoice()) return;
        ThreadUsage thread = view.page == ViewState.Page.STACKS ? view.stackThread : null;
        JvmSources.Sampling sampling = sources.sampling(view.showsJavaStatus || thread != null, thread, view.intervals);
        requestSample(() -> {
            JvmSources.Sample sample = sampling.run();
            return () -> accept(sample, thread);
        });
    }

    private long intervalNanos() {
        return (long) (view.intervalSeconds * 1e9);
    }

    private void requestSample(QueryExecutor.Query query) {
        requestedAt = System.nanoTime();
        queries.submit(
                () -> {
                    Event result = query.run();
                    return () -> {
                        requestedAt = 0;
                        result.handle();
                    };
                },
                error -> {
                    requestedAt = 0;
                    end(error);
                });
    }

    private void pause(String message) {
        view.paused = true;
        view.message = message;
    }

    private void end(String message) {
        view.ended = true;
        endReason = message;
        view.message = message + ": showing the last interval";
    }

    /** Begins again, with another JVM. */
    private void restart() {
        endReason = "";
        schedule.restart(System.nanoTime() + FIRST_INTERVAL_NANOS);
    }

    private void accept(JvmSources.Sample sample, ThreadUsage thread) {
        view.sections = sample.sections();
        view.accept(sample.intervals());
        view.agentOffer.accept(sample.intervals(), sources.retain(sample));
        if (sample.stacks() != null) view.showStacks(thread, sample.stacks());
        if (view.message.startsWith(NO_RESPONSE)) view.message = "";
        intervalCount++;
        if (count > 0 && intervalCount >= count) quit = true;
        if (!sample.error().isEmpty()) view.message = sample.error();
    }

    private void quit() {
        quit = true;
    }

    private void redraw() throws IOException {
        tty.clear();
        draw();
    }

    private void draw() throws IOException {
        tty.draw(ScreenRenderer.draw(view, tty.columns(), tty.rows()));
    }

    /** Returns whether there are rows or items for keys to act on, or the JVM does not respond. */
    private boolean isStarted() {
        return !view.intervals.isEmpty()
                || view.ended
                || view.message.startsWith(NO_RESPONSE)
                || (sources.isChoice() && !(view.jvms.isEmpty() && view.message.isEmpty()));
    }

    private void releaseKeys() throws IOException {
        for (String key : typeAhead.release()) handleKey(key);
    }

    private void handleKey(String pressed) throws IOException {
        if (typeAhead.hold(pressed)) return;
        String key = pressed.startsWith(MouseBindings.PREFIX)
                ? mouse.handle(view, pressed, tty.columns(), tty.rows(), System.nanoTime())
                : pressed;
        if (!key.isEmpty()) handleAction(key);
    }

    private void handleAction(String key) throws IOException {
        switch (KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, tty.rows()))) {
            case NONE -> {}
            case QUIT -> quit = true;
            case REDRAW -> redraw();
            case SUSPEND -> {
                tty.suspend();
                redraw();
            }
            case RESCHEDULE -> schedule.restart(System.nanoTime() + (view.paused ? 0 : intervalNanos()));
            case STACKS -> actions.showStacks();
            case PROFILE -> actions.profile();
            case LIST_JVMS -> {
                view.jvms = List.of();
                view.scroll = 0;
                view.page = ViewState.Page.JVMS;
                actions.listJvms();
            }
            case OPEN_JVM -> actions.openJvm();
            case LOAD_AGENT -> actions.loadAgent();
            case STEP_BACK -> step(-1);
            case STEP_FORWARD -> step(1);
            case JUMP_BACK -> step(-JUMP_INTERVALS);
            case JUMP_FORWARD -> step(JUMP_INTERVALS);
            case PREVIOUS_DIAGNOSIS -> jump(false);
            case NEXT_DIAGNOSIS -> jump(true);
        }
        if (view.page != ViewState.Page.PROFILE) profiles.cancel();
        // The list was closed without a choice.
        if (sources.isChoice() && view.page == ViewState.Page.TABLE && !actions.isOpening()) quit = true;
    }

    private void step(int steps) {
        if (replay == null) view.message = LIVE;
        else replay.step(steps);
    }

    private void jump(boolean forward) {
        if (replay == null) view.message = LIVE;
        else replay.jump(forward);
    }
}
