// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.IntervalSource.Jvm;
import org.taskclock.monitor.usage.ThreadUsage;

/** The actions of keys that query a JVM. Confined to the main thread, except for the queries. */
final class JvmActions {
    private final ViewState view;
    private final JvmSources sources;
    private final QueryExecutor queries;
    private final ProfileRunner profiles;
    private final Runnable onOpened;

    /** Whether a JVM that the user selected is being opened. */
    private boolean opening;

    /** @param onOpened is run after another JVM has been opened */
    JvmActions(ViewState view, JvmSources sources, QueryExecutor queries, ProfileRunner profiles, Runnable onOpened) {
        this.view = view;
        this.sources = sources;
        this.queries = queries;
        this.profiles = profiles;
        this.onOpened = onOpened;
    }

    /**
     * Returns whether a JVM that the user selected is being opened. A sample of the others would replace it when it
     * completes.
     */
    boolean isOpening() {
        return opening;
    }

    /** Profiles the selected row. */
    void profile() {
        TableModel.Row row = view.selected();
        if (view.showsAccounts()) {
            view.message = "Only threads and pools can be profiled";
            return;
        }
        if (view.ended || view.isRecording) {
            view.message = view.ended ? "The process has exited." : "Stacks are not recorded.";
            return;
        }
        view.scroll = 0;
        view.page = ViewState.Page.PROFILE;
        view.profile = profiles.start(source(row.thread().pid()), row);
    }

    void showStacks() {
        if (view.ended) {
            view.stacks = "The process has exited.";
            return;
        }
        ThreadUsage thread = view.stackThread;
        IntervalSource source = source(thread.pid());
        query(() -> {
            String stacks = source.stacks(thread);
            return () -> view.showStacks(thread, stacks);
        });
    }

    private IntervalSource source(int pid) {
        return sources.find(pid, view.intervals);
    }

    void listJvms() {
        IntervalSource first = sources.first();
        query(() -> {
            List<Jvm> jvms = first.jvms();
            return () -> view.acceptJvms(jvms);
        });
    }

    /** Opens the JVM that is selected in the list, and watches it instead of the others. */
    void openJvm() {
        int pid = view.jvms.get(view.scroll).pid();
        IntervalSource current = sources.first();
        opening = true;
        if (!view.ended) view.message = "Opening process " + pid + " ...";
        QueryExecutor.Query query = () -> {
            IntervalSource source = current.open(pid);
            return () -> {
                opening = false;
                sources.replaceWith(source);
                view.reset();
                onOpened.run();
            };
        };
        queries.submit(query, error -> {
            opening = false;
            if (sources.isChoice()) view.page = ViewState.Page.JVMS;
            showError(error);
        });
    }

    void loadAgent() {
        int pid = view.agentOffer.accepted(view);
        IntervalSource source = source(pid);
        boolean forAccounts = view.showsAccounts();
        query(() -> {
            AgentOffer.load(pid, source, forAccounts);
            return () -> view.agentOffer.loaded(view, pid);
        });
    }

    /** Runs a query other than a sample. A failure is shown but does not end the view. */
    private void query(QueryExecutor.Query query) {
        queries.submit(query, this::showError);
    }

    private void showError(String error) {
        if (view.page == ViewState.Page.STACKS) view.stacks = error;
        else if (!view.ended) view.message = error;
    }
}
