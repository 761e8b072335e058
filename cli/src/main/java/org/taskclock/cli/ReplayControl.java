// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.recording.RecordingOutline;
import org.taskclock.monitor.sampling.Interval;

/** Moves the view through a recording. Reads the recording on the thread of the queries. */
final class ReplayControl {
    /** How long keys may have to wait while the outline is read. */
    private static final long OUTLINE_PART_NANOS = 100_000_000;

    private final Recording recording;
    private final RecordingOutline outline;
    private final ViewState view;
    private final QueryExecutor queries;

    /** The number of the interval that pending moves lead to; -1 if there are none. */
    private int target = -1;

    ReplayControl(Recording recording, ViewState view, QueryExecutor queries) {
        this.recording = recording;
        this.outline = new RecordingOutline(recording);
        this.view = view;
        this.queries = queries;
    }

    /** Shows the first interval and begins to read the outline. */
    void start() {
        moveTo(-1);
        readOutline();
    }

    /** Reads a part of the outline at a time, so that keys work in the meantime. */
    private void readOutline() {
        queries.submit(
                () -> {
                    long start = System.nanoTime();
                    List<IntervalSummary> summaries = new ArrayList<>();
                    List<IntervalSummary> block;
                    do {
                        block = outline.next();
                        summaries.addAll(block);
                    } while (!block.isEmpty() && System.nanoTime() - start < OUTLINE_PART_NANOS);
                    boolean hasMore = !block.isEmpty();
                    return () -> {
                        view.outline.addAll(summaries);
                        if (hasMore) readOutline();
                    };
                },
                this::showError);
    }

    /** Reads the next interval. {@code atEnd} is returned at the end of the recording. */
    TerminalUi.Event next(TerminalUi.Event atEnd) throws IOException {
        Interval interval = recording.next();
        if (interval == null) return atEnd;
        Recording.Position position = recording.position();
        return () -> {
            view.position = position;
            view.accept(List.of(interval));
        };
    }

    /** Pauses, and moves by a number of intervals, but not beyond the first or last one. */
    void step(int steps) {
        if (view.position == null) return;
        view.paused = true;
        moveTo(Math.max(0, Math.min(view.position.count() - 1, current() + steps)));
    }

    private int current() {
        return target < 0 ? view.position.number() : target;
    }

    /** Pauses, and moves to the next or previous interval in which a finding begins. */
    void jump(boolean forward) {
        if (view.position == null) return;
        view.paused = true;
        int step = forward ? 1 : -1;
        for (int i = current() + step; i >= 0 && i < view.outline.size(); i += step) {
            if (!view.outline.get(i).begins()) continue;
            moveTo(i);
            return;
        }
        boolean isComplete = view.outline.size() >= (forward ? view.position.count() : current());
        view.message = "No " + (forward ? "later" : "earlier") + " finding"
                + (isComplete ? " in the recording" : " so far: still reading the recording");
    }

    /** Moves to an interval; -1 for the one at which the recording is to start. */
    private void moveTo(int number) {
        target = number;
        queries.submit(
                () -> {
                    Interval interval = recording.step(
                            number < 0 ? 1 : number - recording.position().number());
                    List<Interval> previous = recording.previous(History.INTERVALS - 1);
                    Recording.Position position = recording.position();
                    return () -> {
                        if (position.number() == target) target = -1;
                        view.rewind();
                        for (Interval each : previous) view.history.add(List.of(each));
                        view.position = position;
                        view.accept(List.of(interval));
                    };
                },
                this::showError);
    }

    private void showError(String error) {
        target = -1;
        view.message = error;
    }
}
