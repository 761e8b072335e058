// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import org.taskclock.monitor.fleet.JvmLoads;
import org.taskclock.monitor.fleet.LiveJvm;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;

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
