// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.taskclock.monitor.usage.ProcessUsage;

class CpuThresholdTest {
    private static final ProcessUsage LIMITED = new ProcessUsage(0, 0, 0, 2.5, 0, 0, 8, 0);
    private static final ProcessUsage UNLIMITED = new ProcessUsage(0, 0, -1, 0, -1, 0, 8, 0);

    @Test
    void shouldConvertToTheUnitOfTheThreshold() {
        CpuThreshold ofCore = new CpuThreshold.Converter().convert("150%");
        assertThat(ofCore.convert(50, LIMITED)).isEqualTo(50);
        assertThat(ofCore.unit(LIMITED)).isEqualTo("one core");
        CpuThreshold ofLimit = new CpuThreshold.Converter().convert("90% of limit");
        assertThat(ofLimit.convert(50, LIMITED)).isEqualTo(20);
        assertThat(ofLimit.unit(LIMITED)).isEqualTo("the limit of 2.5 cores");
        assertThat(ofLimit.unit(new ProcessUsage(0, 0, 0, 0.25, 0, 0, 8, 0))).isEqualTo("the limit of 0.25 cores");
        assertThat(ofLimit.unit(new ProcessUsage(0, 0, 0, 10, 0, 0, 8, 0))).isEqualTo("the limit of 10 cores");
        assertThat(ofLimit.convert(50, UNLIMITED)).isEqualTo(6.25);
        assertThat(ofLimit.unit(UNLIMITED)).isEqualTo("the machine, which has 8 processors and no limit");
    }
}
