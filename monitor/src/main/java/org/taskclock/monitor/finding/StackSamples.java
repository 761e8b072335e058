// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.usage.ThreadUsage;

/** What occasional stack samples, from thread dumps, show about suspicious threads. */
public final class StackSamples {
    /** The number of intervals after which a thread that is no longer suspicious is forgotten. */
    private static final int INTERVALS_REMEMBERED = 10;

    /** After as many samples without a result, a thread is sampled after pauses only. */
    private static final int MIN_SAMPLES = 10;

    private static final long MAX_PAUSE_NANOS = 15 * ThreadHistory.SECOND;

    private static final int MAX_CARRIED = 1_000;

    /** The stack samples of a suspicious thread. */
    static final class Stacks {
        /** The number of intervals since the thread was last suspicious. */
        private int intervalsSinceSuspicious;

        int samples;
        int yieldingSamples;
        int schedulingSamples;
        /** The number of consecutive samples with the same carried virtual thread as in the previous sample. */
        int sameCarriedSamples;

        /** When it was first sampled. */
        long sameCarriedSince;

        long carriedId;
        /** Where the program's code in the carried thread was; empty if unknown. */
        String carriedSite = "";

        String topFrame = "";

        /** Where the thread called what it sleeps in; empty if unknown. */
        String topCaller = "";

        int timerSamples;
        /** The samples that show the stack of the carried virtual thread. */
        int mountedStacks;

        /** The number of consecutive samples in what seems to be the same match of a regular expression. */
        int regexSamples;

        long regexSince;
        /** Where the program called it; empty if unknown. */
        String regexSite = "";

        private String regexCaller = "";

        int exceptionSamples;
        /** Where the program last created an exception; empty if unknown. */
        String exceptionSite = "";

        /** The number of consecutive samples with the same stack, without any allocation, and since when. */
        int sameSamples;

        long sameSince;
        long sampledAt;
        private String stack = "";

        String ofSamples(int count) {
            return count + " of " + samples + " stack sample" + (samples == 1 ? "" : "s");
        }
    }

    private final ThreadDumps dumps;
    private final Map<Integer, Stacks> suspects = new HashMap<>();
    /** The number of samples in which each virtual thread was mounted. */
    private final Map<Long, Integer> mountedSamples = new HashMap<>();

    /** Whether a virtual thread may have been pinned in the previous interval. */
    private boolean mightBePinned;

    /** The last dump that was used as a sample. */
    private ThreadDump sampled;

    public StackSamples(ThreadDumps dumps) {
        this.dumps = dumps;
    }

    /** Returns whether a virtual thread may be pinned in this interval and may have been in the previous one. */
    boolean mayBePinnedAgain(boolean mayBePinned) {
        boolean again = mayBePinned && mightBePinned;
        mightBePinned = mayBePinned;
        return again;
    }

    /** Adds a sample of the suspicious threads, if their stacks are known or a dump may be taken. */
    void update(List<ThreadUsage> suspicious, long intervalNanos) {
        for (ThreadUsage thread : suspicious)
            suspects.computeIfAbsent(thread.tid(), tid -> new Stacks()).intervalsSinceSuspicious = 0;
        suspects.values().removeIf(suspect -> suspect.intervalsSinceSuspicious++ > INTERVALS_REMEMBERED);
        if (suspicious.stream().noneMatch(this::needsSample)) return;
        ThreadDump dump = dumps.newest();
        boolean isUsable = dump != null && dump != sampled && System.nanoTime() - dump.takenAt() < intervalNanos;
        if (!isUsable) {
            if (!dumps.mayDump()) return;
            try {
                dump = dumps.dump();
            } catch (IOException e) {
                // The findings stay unconfirmed, and say why.
                return;
            }
        }
        sampled = dump;
        add(dump);
    }

    /** Threads that turn out to work are sampled rarely, because any busy server has some. */
    private boolean needsSample(ThreadUsage thread) {
        Stacks stacks = suspects.get(thread.tid());
        boolean isOpen = stacks.samples < MIN_SAMPLES
                || stacks.yieldingSamples > 0
                || stacks.timerSamples > stacks.samples / 2
                || stacks.exceptionSamples > stacks.samples / 2
                || stacks.sameSamples > 2
                || stacks.regexSamples > 2
                || thread.kind() == ThreadKind.CARRIER
                || Suspect.isSystemHeavy(thread);
        return isOpen || System.nanoTime() - stacks.sampledAt >= MAX_PAUSE_NANOS;
    }

    private void add(ThreadDump dump) {
        suspects.forEach((tid, suspect) -> add(suspect, dump.of(tid), dump.takenAt()));
        if (mountedSamples.size() > MAX_CARRIED) mountedSamples.clear();
        for (ThreadDump.Entry entry : dump.all())
            if (entry.carriedId() != 0) mountedSamples.merge(entry.carriedId(), 1, Integer::sum);
    }

    private static void add(Stacks suspect, ThreadDump.Entry entry, long nanos) {
        suspect.samples++;
        suspect.sampledAt = nanos;
        if (entry == null) return;
        String stack = entry.allocatedAndFrames();
        boolean isSame = !entry.topFrame().isEmpty() && stack.equals(suspect.stack);
        suspect.stack = stack;
        suspect.sameSamples = isSame ? suspect.sameSamples + 1 : 1;
        if (!isSame) suspect.sameSince = nanos;
        if (entry.isTimer()) {
            suspect.timerSamples++;
            suspect.topCaller = entry.programFrame();
        }
        suspect.topFrame = entry.topFrame();
        String caller = entry.allocatedAndRegexCaller();
        boolean isSameMatch = !caller.isEmpty() && caller.equals(suspect.regexCaller);
        suspect.regexCaller = caller;
        suspect.regexSamples = caller.isEmpty() ? 0 : isSameMatch ? suspect.regexSamples + 1 : 1;
        if (!isSameMatch) suspect.regexSince = nanos;
        suspect.regexSite = entry.programFrame();
        if (entry.isCreatingException()) {
            suspect.exceptionSamples++;
            suspect.exceptionSite = entry.programFrame();
        }
        if (entry.isYielding()) suspect.yieldingSamples++;
        if (entry.isScheduling()) suspect.schedulingSamples++;
        if (entry.showsMounted()) suspect.mountedStacks++;
        boolean isSameCarried = entry.carriedId() != 0 && entry.carriedId() == suspect.carriedId;
        suspect.sameCarriedSamples = isSameCarried ? suspect.sameCarriedSamples + 1 : 0;
        if (!isSameCarried) suspect.sameCarriedSince = nanos;
        suspect.carriedId = entry.carriedId();
        suspect.carriedSite = entry.mountedSite();
    }

    /** Returns the samples of a thread that was suspicious in the last update. */
    Stacks of(int tid) {
        return suspects.get(tid);
    }

    /** Returns why there may be no sample. */
    String failure() {
        String failure = dumps.failure();
        return failure == null ? "stacks are sampled only occasionally" : failure;
    }

    /** Returns the id of a virtual thread that was mounted in more than one sample; 0 if there is none. */
    long repeatedlyMounted() {
        return mountedSamples.entrySet().stream()
                .filter(mounted -> mounted.getValue() > 1)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(0L);
    }
}
