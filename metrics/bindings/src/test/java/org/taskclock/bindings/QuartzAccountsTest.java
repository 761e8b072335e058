// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.listeners.JobListenerSupport;

/** Jobs of a real scheduler. */
public class QuartzAccountsTest {
    private static volatile CountedWork work;

    private Scheduler scheduler;

    /** Works once. */
    public static class Nightly implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            work.run();
        }
    }

    /** Works once and fails. */
    public static class Failing implements Job {
        @Override
        public void execute(JobExecutionContext context) throws JobExecutionException {
            work.run();
            if (context.getPreviousFireTime() == null) throw new JobExecutionException("bad order");
            throw new IllegalArgumentException("bad order");
        }
    }

    @BeforeEach
    void start() throws SchedulerException {
        work = new CountedWork();
        Properties properties = new Properties();
        properties.setProperty("org.quartz.scheduler.instanceName", "test");
        properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        properties.setProperty("org.quartz.threadPool.threadCount", "2");
        properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        scheduler = new StdSchedulerFactory(properties).getScheduler();
        // example: quartz
        scheduler.getListenerManager().addJobListener(new QuartzAccounts());
        // end
        scheduler.start();
    }

    @AfterEach
    void stop() throws SchedulerException {
        scheduler.shutdown(true);
    }

    private void run(Class<? extends Job> type, String name, int times) throws SchedulerException {
        JobDetail job = JobBuilder.newJob(type).withIdentity(name).build();
        scheduler.scheduleJob(
                job,
                TriggerBuilder.newTrigger()
                        .withSchedule(SimpleScheduleBuilder.simpleSchedule()
                                .withIntervalInMilliseconds(1)
                                .withRepeatCount(times - 1))
                        .build());
    }

    @Test
    void shouldCountEachExecution() throws SchedulerException {
        run(Nightly.class, "nightly", 10);
        work.assertCounted("job", "DEFAULT.nightly", 10);
        assertThat(work.portions()).isEqualTo(10);
    }

    @Test
    void shouldCloseTheSectionsOfFailedJobs() throws SchedulerException {
        run(Failing.class, "failing", 6);
        work.assertCounted("job", "DEFAULT.failing", 6);
        assertThat(work.portions()).isEqualTo(6);
    }

    /** A listener that comes later stops the execution, after ours has opened a section. */
    @Test
    void shouldEndTheSectionOfAJobThatAnotherListenerStopped() throws SchedulerException {
        scheduler.getListenerManager().addJobListener(new JobListenerSupport() {
            @Override
            public String getName() {
                return "refusing";
            }

            @Override
            public void jobToBeExecuted(JobExecutionContext context) {
                if (context.getJobDetail().getKey().getName().equals("stopped"))
                    throw new IllegalStateException("not now");
            }
        });
        run(Nightly.class, "stopped", 2);
        run(Nightly.class, "next", 10);
        work.assertCounted("job", "DEFAULT.next", 10);
        CountedWork.usage("job", "DEFAULT.stopped", 2);
        assertThat(List.of(work.portions())).containsExactly(10L);
    }
}
