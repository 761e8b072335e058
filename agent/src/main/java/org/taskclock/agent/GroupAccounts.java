// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.HashMap;
import java.util.Map;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuTime;

/**
 * The accounts of virtual threads by name. The agent adds up their time anyway. Once a second, this passes on what has
 * come since the last time. Each thread that has ended is a section.
 */
final class GroupAccounts implements Watchdog.Check {
    private final VirtualAccounts virtual;
    private final AccountType accounts = CpuAccounts.type(ProgramAccounts.GROUP);
    /** What was passed on, or was there before, by name. */
    private final Map<String, VirtualAccounts.Group> last = new HashMap<>();

    private boolean isStopped;

    GroupAccounts(VirtualAccounts virtual) {
        this.virtual = virtual;
        for (VirtualAccounts.Group group : virtual.groups()) last.put(group.getName(), group);
    }

    @Override
    public synchronized boolean check() {
        if (isStopped) return false;
        for (VirtualAccounts.Group group : virtual.groups()) {
            VirtualAccounts.Group before = last.put(group.getName(), group);
            long cpu = group.getCpuNanos() - (before == null ? 0 : before.getCpuNanos());
            long user = group.getUserNanos() - (before == null ? 0 : before.getUserNanos());
            long ended = group.getEnded() - (before == null ? 0 : before.getEnded());
            if (cpu > 0 || ended > 0) accounts.add(group.getName(), new CpuTime(cpu, user, cpu - user), ended);
        }
        return true;
    }

    /** Passes on the rest. */
    synchronized void stop() {
        check();
        isStopped = true;
    }
}
