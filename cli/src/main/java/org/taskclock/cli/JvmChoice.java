// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import org.taskclock.monitor.Interval;
import org.taskclock.monitor.IntervalSource;
import org.taskclock.monitor.JvmLoads;
import org.taskclock.monitor.LiveJvm;
import org.taskclock.monitor.MonitorException;

/** The JVMs that an ambiguous argument matches. The terminal interface lists them for the user to choose from. */
final class JvmChoice implements IntervalSource {
    private final JvmQuery query;
    private final boolean attach;
    private final JvmLoads loads = new JvmLoads();

    JvmChoice(JvmQuery query, boolean attach) {
        this.query = query;
        this.attach = attach;
    }

    @Override
    public List<Jvm> jvms() {
        return loads.update(query.matches());
    }

    @Override
    public IntervalSource open(int pid) throws MonitorException {
        return LiveJvm.of(pid, attach);
    }

    @Override
    public Interval next() {
        throw new IllegalStateException("no JVM has been chosen");
    }
}
