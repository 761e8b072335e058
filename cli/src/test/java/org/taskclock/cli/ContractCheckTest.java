// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;
import org.taskclock.cli.ContractCheck.CallingThread;
import org.taskclock.cli.ContractCheck.Clock;
import org.taskclock.cli.ContractCheck.Reference;

/** Each criterion must be able to fail, or that it holds says nothing. */
class ContractCheckTest {
    private static final long CHECK_NANOS = 400_000_000;
    private static final long BUDGET_NANOS = 100;
    /** The clock learns how much a host takes away, which may be more than the first check allows for. */
    private static final int LESSONS = 10;

    /** More than any tick and than any step of the JVM's user time. */
    private static final long SPLIT_BOUND_NANOS = 100_000_000;

    @Test
    void shouldHoldForTaskClock() throws Exception {
        Contract contract = ContractCheck.ofTaskClock().run(CHECK_NANOS);
        for (int i = 0; i < LESSONS && !contract.cpuHolds(); i++)
            contract = ContractCheck.ofTaskClock().run(CHECK_NANOS);
        assertThat(contract.holds()).as("%s", contract).isTrue();
        assertThat(contract.readings()).isPositive();
        assertThat(contract.waits()).isPositive();
    }

    @Test
    void shouldNoticeCpuThatIsOff() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return super.cpuNanos() + 100_000;
            }
        });
        assertThat(contract.cpuHolds()).isFalse();
        assertThat(contract.cpuErrorP9999Nanos()).isGreaterThan(Contract.CPU_BOUND_NANOS);
        assertThat(contract.sumsHold() && contract.waitsHold()).isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeCpuThatIsBehind() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return super.cpuNanos() - 100_000;
            }
        });
        assertThat(contract.cpuErrorMeanNanos()).isGreaterThan(50_000);
        assertThat(contract.cpuHolds()).isFalse();
    }

    @Test
    void shouldNoticeSumsThatDoNotAddUp() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public CpuTime now() {
                CpuTime now = super.now();
                return new CpuTime(now.cpuNanos(), now.userNanos(), now.systemNanos() + 1);
            }
        });
        assertThat(contract.sumErrors()).isEqualTo(contract.readings());
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeNegativeParts() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public CpuTime now() {
                long cpu = super.now().cpuNanos();
                return new CpuTime(cpu, cpu + 2, -2);
            }
        });
        assertThat(contract.sumErrors()).isEqualTo(contract.readings());
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeBackwardSteps() throws Exception {
        AtomicLong reads = new AtomicLong();
        Contract contract = check(new CallingThread() {
            @Override
            public long userNanos() {
                // Any later reading is at least as large as the one before; now and then this one is of long ago.
                return reads.incrementAndGet() % 16 == 0 ? 0 : super.userNanos();
            }
        });
        assertThat(contract.backwardSteps()).isBetween(1L, contract.readings());
        assertThat(contract.cpuHolds() && contract.sumsHold()).isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeCallsThatContradictEachOther() throws Exception {
        Contract contract = check(new CallingThread() {
            private long doubled(long nanos) {
                return nanos + TaskClock.cpuNanos();
            }

            @Override
            public long userNanos() {
                return doubled(super.userNanos());
            }

            @Override
            public CpuTime now() {
                CpuTime now = super.now();
                long cpu = doubled(now.cpuNanos());
                return new CpuTime(cpu, cpu - now.systemNanos(), now.systemNanos());
            }
        });
        assertThat(contract.backwardSteps()).isPositive();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeASplitThatIsNotGetrusages() throws Exception {
        assumeThat(KernelReaders.rusage(new long[2])).isTrue();
        // Clock and reference agree on an hour of user time that getrusage knows nothing of.
        long hour = 3_600_000_000_000L;
        Reference reference = new Reference("an hour more", () -> TaskClock.cpuNanos() + hour);
        Clock clock = new CallingThread() {
            @Override
            public long cpuNanos() {
                return super.cpuNanos() + hour;
            }

            @Override
            public long userNanos() {
                return super.userNanos() + hour;
            }

            @Override
            public CpuTime now() {
                CpuTime now = super.now();
                return new CpuTime(now.cpuNanos() + hour, now.userNanos() + hour, now.systemNanos());
            }
        };
        Contract contract = new ContractCheck(clock, reference, BUDGET_NANOS, SPLIT_BOUND_NANOS).run(CHECK_NANOS);
        assertThat(contract.splitHolds()).isFalse();
        assertThat(contract.cpuHolds() && contract.sumsHold() && contract.stepsHold() && contract.waitsHold())
                .isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNoticeBlockedTimeThatIsCounted() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return System.nanoTime();
            }
        });
        assertThat(contract.blockedNanosCounted()).isGreaterThan(contract.waits() * Contract.CPU_BOUND_NANOS);
        assertThat(contract.waitsHold()).isFalse();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNotHoldForAClockThatKnowsNothing() throws Exception {
        Contract contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return -1;
            }
        });
        assertThat(contract.unknownReadings()).isPositive();
        assertThat(contract.holds()).isFalse();
    }

    private static Contract check(Clock clock) throws Exception {
        return new ContractCheck(clock, Reference.best(), BUDGET_NANOS, SPLIT_BOUND_NANOS).run(CHECK_NANOS);
    }
}
