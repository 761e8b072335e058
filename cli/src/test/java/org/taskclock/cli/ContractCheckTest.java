// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;
import org.taskclock.cli.ContractCheck.CallingThread;
import org.taskclock.cli.ContractCheck.Clock;
import org.taskclock.cli.ContractCheck.Reference;

/** Verifies that each criterion can fail. */
@Isolated("other tests would affect its measurements and the list of running JVMs")
class ContractCheckTest {
    private static final long CHECK_NANOS = 400_000_000;
    private static final long BUDGET_NANOS = 100;
    /** The clock adapts to the time that the host takes away, and may need more than one check for that. */
    private static final int ATTEMPTS = 10;

    /** Larger than any tick and any step of the JVM's user time. */
    private static final long SPLIT_BOUND_NANOS = 100_000_000;

    @Test
    void shouldHoldForTaskClock() throws Exception {
        ContractResult contract = ContractCheck.ofTaskClock().run(CHECK_NANOS);
        for (int i = 0; i < ATTEMPTS && !contract.cpuHolds(); i++)
            contract = ContractCheck.ofTaskClock().run(CHECK_NANOS);
        assertThat(contract.holds()).as("%s", contract).isTrue();
        assertThat(contract.readings()).isPositive();
        assertThat(contract.waits()).isPositive();
    }

    @Test
    void shouldDetectCpuThatIsAhead() throws Exception {
        ContractResult contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return super.cpuNanos() + 100_000;
            }
        });
        assertThat(contract.cpuHolds()).isFalse();
        assertThat(contract.cpuErrorP9999Nanos()).isGreaterThan(ContractResult.CPU_BOUND_NANOS);
        assertThat(contract.sumsHold() && contract.waitsHold()).isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldDetectCpuThatIsBehind() throws Exception {
        ContractResult contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return super.cpuNanos() - 100_000;
            }
        });
        assertThat(contract.cpuErrorMeanNanos()).isGreaterThan(50_000);
        assertThat(contract.cpuHolds()).isFalse();
    }

    @Test
    void shouldDetectSumsThatDoNotAddUp() throws Exception {
        ContractResult contract = check(new CallingThread() {
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
    void shouldDetectNegativeParts() throws Exception {
        ContractResult contract = check(new CallingThread() {
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
    void shouldDetectBackwardSteps() throws Exception {
        AtomicLong reads = new AtomicLong();
        ContractResult contract = check(new CallingThread() {
            @Override
            public long userNanos() {
                // Every 16th reading goes back to 0.
                return reads.incrementAndGet() % 16 == 0 ? 0 : super.userNanos();
            }
        });
        assertThat(contract.backwardSteps()).isBetween(1L, contract.readings());
        assertThat(contract.cpuHolds() && contract.sumsHold()).isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldDetectContradictoryReadings() throws Exception {
        ContractResult contract = check(new CallingThread() {
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
    void shouldDetectASplitThatDiffersFromGetrusage() throws Exception {
        assumeThat(KernelReaders.rusage(new long[2])).isTrue();
        // Clock and reference agree on an hour of user time that getrusage does not have.
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
        ContractResult contract = new ContractCheck(clock, reference, BUDGET_NANOS, SPLIT_BOUND_NANOS).run(CHECK_NANOS);
        assertThat(contract.splitHolds()).isFalse();
        assertThat(contract.cpuHolds() && contract.sumsHold() && contract.stepsHold() && contract.waitsHold())
                .isTrue();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldDetectCountedBlockedTime() throws Exception {
        ContractResult contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return System.nanoTime();
            }
        });
        assertThat(contract.blockedNanosCounted()).isGreaterThan(contract.waits() * ContractResult.CPU_BOUND_NANOS);
        assertThat(contract.waitsHold()).isFalse();
        assertThat(contract.holds()).isFalse();
    }

    @Test
    void shouldNotHoldForUnknownReadings() throws Exception {
        ContractResult contract = check(new CallingThread() {
            @Override
            public long cpuNanos() {
                return -1;
            }
        });
        assertThat(contract.unknownReadings()).isPositive();
        assertThat(contract.holds()).isFalse();
    }

    private static ContractResult check(Clock clock) throws Exception {
        return new ContractCheck(clock, Reference.best(), BUDGET_NANOS, SPLIT_BOUND_NANOS).run(CHECK_NANOS);
    }
}
