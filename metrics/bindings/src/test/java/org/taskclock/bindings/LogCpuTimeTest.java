// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.internal.JdkVersions;

class LogCpuTimeTest {
    private final CpuAccount account = CpuAccount.create();
    private final CountedWork work = new CountedWork();

    private void assertMillis(String text) {
        assertThat(text).matches("\\d+\\.\\d{3}");
        work.assertNanos((long) (Double.parseDouble(text) * 1e6));
    }

    private void inAccount(Runnable task) {
        AccountContext.current()
                .with(CpuAccount.create())
                .with(account)
                .wrap(task)
                .run();
    }

    @Test
    void shouldPutTheCpuTimeIntoTheMdc() {
        inAccount(() -> {
            work.run();
            // example: mdc
            MdcCpuTime.update();
            // end
            assertMillis(MDC.get("cpuMillis"));
        });
        MdcCpuTime.update();
        assertThat(MDC.get(MdcCpuTime.KEY)).isNull();
    }

    /** A tenant's total would say nothing about the request that logs. */
    @Test
    void shouldIgnoreNamedAccounts() {
        AccountContext tenant =
                AccountContext.EMPTY.with(CpuAccounts.type("tenant").of("logged"));
        tenant.with(account)
                .with(CpuAccounts.type("endpoint").of("logged"))
                .wrap(() -> {
                    work.run();
                    assertMillis(CurrentCpuTime.millis());
                })
                .run();
        tenant.wrap(() -> assertThat(CurrentCpuTime.millis()).isNull()).run();
        work.assertCounted("tenant", "logged", 2);
    }

    @Test
    void shouldPadTheFraction() throws Exception {
        var millis = CurrentCpuTime.class.getDeclaredMethod("millis", long.class);
        millis.setAccessible(true);
        assertThat(millis.invoke(null, 0L)).isEqualTo("0.000");
        assertThat(millis.invoke(null, 12_005_999L)).isEqualTo("12.005");
        assertThat(millis.invoke(null, 61_000_120_000L)).isEqualTo("61000.120");
    }

    @Test
    void shouldOmitUnknownTimes() throws Exception {
        assumeTrue(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "needs virtual threads");
        List<String> values = new ArrayList<>();
        Runnable task = () -> inAccount(() -> values.add(CurrentCpuTime.millis()));
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        thread.join();
        assertThat(values).containsExactly((String) null);
        assertThat(account.now().uncounted()).isEqualTo(1);
    }

    @Test
    void shouldReachLogbacksAsynchronousAppenders() throws Exception {
        LoggerContext context = new LoggerContext();
        String configuration = """
                <configuration>
                  <turboFilter class="org.taskclock.bindings.LogbackCpuTime"/>
                  <root level="INFO"/>
                </configuration>
                """;
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(new ByteArrayInputStream(configuration.getBytes(StandardCharsets.UTF_8)));
        context.setMDCAdapter(MDC.getMDCAdapter());
        ListAppender<ILoggingEvent> events = new ListAppender<>();
        events.setContext(context);
        events.start();
        AsyncAppender asynchronous = new AsyncAppender();
        asynchronous.setContext(context);
        asynchronous.addAppender(events);
        asynchronous.start();
        ch.qos.logback.classic.Logger logger = context.getLogger("test");
        context.getLogger("ROOT").addAppender(asynchronous);
        inAccount(() -> {
            work.run();
            logger.debug("not logged");
            assertThat(MDC.get(MdcCpuTime.KEY)).isNull();
            logger.info("inside");
        });
        logger.info("outside");
        context.stop();
        assertThat(events.list).extracting(ILoggingEvent::getMessage).containsExactly("inside", "outside");
        assertMillis(events.list.get(0).getMDCPropertyMap().get("cpuMillis"));
        assertThat(events.list.get(1).getMDCPropertyMap()).doesNotContainKey("cpuMillis");
    }

    /** Formats events as a program's configuration would. */
    private static final class Lines extends AbstractAppender {
        private final List<String> lines = new ArrayList<>();

        Lines() {
            super(
                    "lines",
                    null,
                    PatternLayout.newBuilder().withPattern("%X{cpuMillis}|%m").build(),
                    false,
                    Property.EMPTY_ARRAY);
        }

        @Override
        public void append(LogEvent event) {
            lines.add(getLayout().toSerializable(event).toString());
        }
    }

    @Test
    void shouldReachLog4jsPatterns() {
        var context = Configurator.initialize(new org.apache.logging.log4j.core.config.DefaultConfiguration());
        Lines lines = new Lines();
        lines.start();
        org.apache.logging.log4j.core.Logger logger = context.getLogger("test");
        logger.addAppender(lines);
        logger.setAdditive(false);
        logger.setLevel(Level.INFO); // last, because the others reset it
        inAccount(() -> {
            work.run();
            logger.debug("not logged");
            logger.info("inside");
        });
        logger.info("outside");
        Configurator.shutdown(context);
        assertThat(lines.lines).hasSize(2);
        assertThat(lines.lines.get(0)).endsWith("|inside");
        assertMillis(lines.lines.get(0).replace("|inside", ""));
        assertThat(lines.lines.get(1)).isEqualTo("|outside");
    }
}
