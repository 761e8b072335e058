// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.JobListener;
import org.taskclock.CpuAccounts;

/**
 * Counts the CPU time of Quartz jobs, for accounts of the type {@code job} that are named by group and name, such as
 * {@code DEFAULT.nightly}:
 *
 * <pre>{@code
 * scheduler.getListenerManager().addJobListener(new QuartzAccounts());
 * }</pre>
 *
 * <p>Each execution is a section, on the thread of the scheduler's pool that runs it, also if the job fails. The
 * account is in the {@link AccountContext}, so that bindings carry it to other threads; what else other threads do for
 * the job is not counted. If another listener stops an execution by throwing an exception, the section ends when the
 * thread runs its next job.
 *
 * <p>Thread-safe.
 */
public final class QuartzAccounts implements JobListener {
    /** The job on each thread. Removed when it ends. */
    private static final ThreadLocal<AccountScope> CURRENT = new ThreadLocal<>();

    /** Creates a listener. */
    public QuartzAccounts() {}

    @Override
    public String getName() {
        return QuartzAccounts.class.getName();
    }

    @Override
    public void jobToBeExecuted(JobExecutionContext context) {
        end();
        String name = context.getJobDetail().getKey().toString();
        CURRENT.set(AccountContext.enter(AccountContext.account(CpuAccounts.type("job"), name)));
    }

    /** A vetoed execution was not announced. */
    @Override
    public void jobExecutionVetoed(JobExecutionContext context) {}

    @Override
    public void jobWasExecuted(JobExecutionContext context, JobExecutionException failure) {
        end();
    }

    private static void end() {
        AccountScope scope = CURRENT.get();
        if (scope == null) return;
        CURRENT.remove();
        scope.close();
    }
}
