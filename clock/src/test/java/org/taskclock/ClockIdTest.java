// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.taskclock.ClockId.Kind;

class ClockIdTest {
    private static final int MAX_ID = (1 << 28) - 1;

    @Test
    void shouldEncodeLikeTheKernel() {
        assertThat(ClockId.thread(42, Kind.VIRT).encode()).isEqualTo(0xFFFFFEAD);
        assertThat(ClockId.thread(0, Kind.VIRT).encode()).isEqualTo(0xFFFFFFFD);
        assertThat(ClockId.thread(0, Kind.SCHED).encode()).isEqualTo(0xFFFFFFFE);
        assertThat(ClockId.thread(0, Kind.PROF).encode()).isEqualTo(0xFFFFFFFC);
        assertThat(ClockId.process(0, Kind.SCHED).encode()).isEqualTo(0xFFFFFFFA);
        assertThat(ClockId.process(1, Kind.PROF).encode()).isEqualTo(0xFFFFFFF0);
        assertThat(ClockId.fd(3).encode()).isEqualTo(0xFFFFFFE3);
    }

    @Property
    void shouldDecodeWhatItEncodes(
            @ForAll @IntRange(max = MAX_ID) int id, @ForAll boolean perThread, @ForAll Kind kind) {
        boolean isThreadClock = perThread && kind != Kind.FD;
        ClockId clockId = new ClockId(id, isThreadClock, kind);
        assertThat(clockId.encode()).isNegative();
        assertThat(ClockId.canDecode(clockId.encode())).isTrue();
        assertThat(ClockId.decode(clockId.encode())).isEqualTo(clockId);
    }

    @Property
    void shouldDecodeOrRejectAnyInt(@ForAll int bits) {
        if (ClockId.canDecode(bits) && ~(bits >> 3) <= MAX_ID) {
            assertThat(ClockId.decode(bits).encode()).isEqualTo(bits);
        } else {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ClockId.decode(bits))
                    .withMessageContaining(Integer.toString(bits));
        }
    }

    @Test
    void shouldRejectIdsThatItCannotDecode() {
        int monotonic = 1;
        int threadCpuTime = 3;
        int threadFileDescriptor = ~5 << 3 | 7;
        for (int bits : new int[] {0, monotonic, threadCpuTime, Integer.MAX_VALUE, threadFileDescriptor, -1}) {
            assertThat(ClockId.canDecode(bits)).isFalse();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ClockId.decode(bits))
                    .withMessageContaining("" + bits);
        }
    }

    @Test
    void shouldRejectIdsThatItCannotEncode() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClockId.thread(-1, Kind.SCHED))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> ClockId.process(MAX_ID + 1, Kind.SCHED));
        assertThatIllegalArgumentException().isThrownBy(() -> ClockId.thread(1, Kind.FD));
        assertThatIllegalArgumentException().isThrownBy(() -> ClockId.process(1, Kind.FD));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClockId.thread(1, Kind.VIRT).withKind(Kind.FD));
    }

    @Test
    void shouldHaveAReadableToString() {
        assertThat(ClockId.thread(42, Kind.VIRT)).hasToString("thread 42 VIRT (0xFFFFFEAD)");
        assertThat(ClockId.process(0, Kind.SCHED)).hasToString("process self SCHED (0xFFFFFFFA)");
        assertThat(ClockId.fd(3)).hasToString("fd 3 FD (0xFFFFFFE3)");
    }

    @Test
    void shouldReadTheClock() {
        long before = SystemCalls.threadCpuNanos();
        long self = ClockId.thread(0, Kind.SCHED).nanos();
        long byTid = ClockId.thread(SystemCalls.gettid(), Kind.SCHED).nanos();
        assertThat(self).isBetween(before, byTid);
        assertThat(byTid).isLessThanOrEqualTo(SystemCalls.threadCpuNanos());

        long virt = ClockId.thread(0, Kind.VIRT).nanos();
        assertThat(virt).isBetween(0L, ClockId.thread(0, Kind.PROF).nanos());
        assertThat(ClockId.process(0, Kind.SCHED).nanos())
                .isGreaterThan(byTid)
                .isLessThan(ClockId.process((int) ProcessHandle.current().pid(), Kind.SCHED)
                        .nanos());
    }

    @Test
    void shouldReadMinusOneIfThereIsNoClock() {
        int noThread = 4_194_305; // one above the kernel's PID_MAX_LIMIT
        for (Kind kind : new Kind[] {Kind.PROF, Kind.VIRT, Kind.SCHED}) {
            assertThat(ClockId.thread(noThread, kind).nanos()).isEqualTo(-1);
            assertThat(ClockId.process(noThread, kind).nanos()).isEqualTo(-1);
        }
        assertThat(ClockId.thread(1, Kind.SCHED).nanos())
                .as("a thread of another process")
                .isEqualTo(-1);
        assertThat(ClockId.fd(0).nanos()).as("a file that is not a PTP device").isEqualTo(-1);
    }
}
