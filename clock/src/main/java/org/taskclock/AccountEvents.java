// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.SettingDefinition;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.taskclock.internal.CpuThresholdSetting;

/**
 * Flight Recorder events about the sections of named accounts: {@code org.taskclock.AccountSection}, for each section
 * that has used 20 ms of CPU time when it is closed. The event's setting {@code cpuThreshold} changes this. A recording
 * must enable the event, for example with {@code jcmd PID JFR.start +org.taskclock.AccountSection#enabled=true}.
 *
 * <p>TaskClock's agent writes these events, too, unless its option {@code jfr} is off. Each section has only one event,
 * whichever copies of the library in the process were asked to write them.
 *
 * <p>Thread-safe. This is the only class of the library that needs the module {@code jdk.jfr}.
 */
public final class AccountEvents implements AutoCloseable {
    /**
     * Return what writes the event of a section with this CPU time to the type and name of its account; null if there
     * is to be none. All copies of the library share this list, and ask only the first element.
     */
    static final class Writers {
        @SuppressWarnings("unchecked")
        private static final CopyOnWriteArrayList<LongFunction<BiConsumer<String, String>>> ALL =
                (CopyOnWriteArrayList<LongFunction<BiConsumer<String, String>>>)
                        CpuAccounts.shared("section-writers-1", CopyOnWriteArrayList::new);

        private Writers() {}

        static boolean areUsed() {
            return !ALL.isEmpty();
        }

        /** Called after a section has been closed. */
        static void write(String type, String name, long cpuNanos) {
            for (LongFunction<BiConsumer<String, String>> writer : ALL) {
                BiConsumer<String, String> event = writer.apply(cpuNanos);
                if (event != null) event.accept(type, name);
                return;
            }
        }
    }

    /** A closed section. */
    @Name("org.taskclock.AccountSection")
    @Label("Account Section")
    @Description("A section of a named account that was closed, without other sections of its type inside it")
    @Category("TaskClock")
    @Enabled(false)
    @StackTrace(false)
    static final class AccountSection extends Event {
        @Label("Account Type")
        String accountType;

        @Label("Account Name")
        String accountName;

        @Label("CPU Time")
        @Timespan
        long cpuTime;

        @Name("cpuThreshold")
        @Label("CPU Threshold")
        @Description("Omit sections that used less CPU time")
        @SettingDefinition
        boolean exceeds(CpuThresholdSetting.OfSection threshold) {
            return threshold.isReached(cpuTime);
        }

        static BiConsumer<String, String> of(long cpuNanos) {
            AccountSection event = new AccountSection();
            event.cpuTime = cpuNanos;
            return event.shouldCommit() ? event::commitFor : null;
        }

        private void commitFor(String type, String name) {
            accountType = type;
            accountName = name;
            commit();
        }
    }

    /** Registers the event when the recorder is first used, or at once if it is already in use. */
    private static final class Registration implements FlightRecorderListener {
        private static final LongFunction<BiConsumer<String, String>> WRITER = AccountSection::of;

        @Override
        public void recorderInitialized(FlightRecorder recorder) {
            FlightRecorder.register(AccountSection.class);
            Writers.ALL.add(WRITER);
        }

        void remove() {
            FlightRecorder.removeListener(this);
            // There is one for each start.
            if (Writers.ALL.remove(WRITER) && !Writers.ALL.contains(WRITER))
                FlightRecorder.unregister(AccountSection.class);
        }
    }

    private final Registration registration = new Registration();

    private AccountEvents() {}

    /**
     * Starts to write events, in recordings that enable them.
     *
     * @return stops it when closed
     * @throws IllegalStateException if the JVM has no Flight Recorder, or the program does not include its module
     */
    public static AccountEvents start() {
        if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty())
            throw new IllegalStateException("module jdk.jfr is missing: add it with --add-modules jdk.jfr");
        AccountEvents events = new AccountEvents();
        FlightRecorder.addListener(events.registration);
        return events;
    }

    /** Stops writing events. */
    @Override
    public void close() {
        registration.remove();
    }
}
