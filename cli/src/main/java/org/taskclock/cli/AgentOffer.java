// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The offer to load the agent into a JVM whose carriers use CPU time, or whose accounts the view is to show. Without
 * the agent, nothing shows which virtual threads or accounts use it.
 */
final class AgentOffer {
    /** The carriers that used CPU time, at most at a time, in each JVM without an agent, by process id. */
    private Map<Integer, Integer> carriers = new TreeMap<>();
    /** The process ids of all JVMs that the agent can be loaded into. */
    private final Set<Integer> loadable = new TreeSet<>();
    /** The process ids of the JVMs that were loaded with the agent on request. */
    private final Set<Integer> loaded = new TreeSet<>();
    /** The process id of the JVM that the open question is about; 0 if there is no question. */
    private int asking;

    /** Updates the offer with the latest intervals and their sources. */
    void accept(List<Interval> intervals, List<IntervalSource> sources) {
        Map<Integer, Integer> now = new TreeMap<>();
        loadable.clear();
        for (int i = 0; i < intervals.size(); i++) {
            Interval interval = intervals.get(i);
            // An offer stays while the carriers are idle: otherwise the lines below it would keep moving.
            int found = Math.max(carriers.getOrDefault(interval.pid(), 0), busyCarriers(interval));
            if (hasAgent(interval) || !sources.get(i).canLoadAgent()) continue;
            loadable.add(interval.pid());
            if (found > 0) now.put(interval.pid(), found);
        }
        carriers = now;
    }

    static boolean hasAgent(Interval interval) {
        return interval.source().equals("agent");
    }

    private static int busyCarriers(Interval interval) {
        int count = 0;
        for (ThreadUsage thread : interval.threads())
            if (thread.kind() == ThreadKind.CARRIER && thread.cpuNanos() > 0) count += thread.threads();
        return count;
    }

    /** Returns a note for plain text, or null if the agent is loaded or not needed. */
    static String note(Interval interval) {
        int count = busyCarriers(interval);
        if (count == 0 || hasAgent(interval)) return null;
        return carry(count) + "; to see them, load the agent: taskclock attach " + interval.pid();
    }

    private static String carry(int count) {
        return "virtual threads run on " + count + (count == 1 ? " carrier" : " carriers");
    }

    /** Returns the number of lines: 1 if there is an offer, otherwise 0. */
    int height() {
        return carriers.isEmpty() ? 0 : 1;
    }

    /** Returns the line for the header. */
    String line() {
        int sum = carriers.values().stream().mapToInt(Integer::intValue).sum();
        return carry(sum) + "; press A to load the agent, which shows them";
    }

    /** Returns the lines for the page of findings. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        carriers.forEach((pid, count) -> notes.add("process " + pid + ": " + carry(count)
                + ". The agent shows their CPU time by name: press A, or run taskclock attach " + pid
                + ". It stays in the JVM until you run taskclock detach " + pid));
        for (int pid : loaded)
            notes.add("the agent was loaded into process " + pid + " from here: to remove it, run taskclock detach "
                    + pid);
        return notes;
    }

    boolean isAsking() {
        return asking != 0;
    }

    /** Opens the question about one JVM, the selected one if it is needed there. Accounts always need the agent. */
    void ask(ViewState view) {
        if (view.ended) return;
        TableModel.Row row = view.selected();
        int pid = row == null ? 0 : row.thread().pid();
        Set<Integer> candidates = view.showsAccounts() ? loadable : carriers.keySet();
        if (candidates.isEmpty()) view.message = "There is no need for the agent, or it cannot be loaded";
        else asking = candidates.contains(pid) ? pid : candidates.iterator().next();
    }

    String question() {
        return "Load the agent into process " + asking + " (undo: taskclock detach " + asking + ")? y/n ";
    }

    /** Handles the key that answers the question. */
    KeyBindings.Action answer(ViewState view, String key) {
        if (key.equalsIgnoreCase("y") && !view.ended) return KeyBindings.Action.LOAD_AGENT;
        asking = 0;
        if (!view.ended) view.message = "The agent was not loaded";
        return KeyBindings.Action.NONE;
    }

    /** Closes the question and returns the process id of its JVM. */
    int accepted(ViewState view) {
        int pid = asking;
        asking = 0;
        view.message = "Loading the agent into process " + pid + " ...";
        return pid;
    }

    /**
     * Loads the agent for accounts, or for virtual threads.
     *
     * @throws IOException if it cannot show them; the message is one line
     */
    static void load(int pid, IntervalSource source, boolean forAccounts) throws IOException {
        if (forAccounts) TargetJvm.showAccounts(pid);
        else TargetJvm.showVirtualThreads(pid);
        source.agentLoaded();
    }

    /** Records that the agent was loaded. */
    void loaded(ViewState view, int pid) {
        loaded.add(pid);
        carriers.remove(pid);
        loadable.remove(pid);
        view.message = "Agent loaded into process " + pid + "; to remove it, run taskclock detach " + pid;
    }
}
