// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import org.taskclock.AccountType;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuUsage;
import org.taskclock.testing.MeasuredWork;

/** Work that an account must count. */
public final class CountedWork extends MeasuredWork {
    /** Asserts that an account counted this work and nothing else, and that no thread has a section of it open. */
    public void assertCounted(CpuAccount account) {
        assertNanos(end(account));
    }

    /** Asserts the same of an account that also counted other work. */
    public void assertCounted(CpuAccount account, MeasuredWork other) {
        assertNanos(end(account) - other.nanos());
    }

    /** Asserts that a named account counted this work and nothing else, in any number of sections. */
    public void assertCounted(String type, String name) {
        assertNanos(complete(row(type, name)).cpuNanos());
    }

    /** Asserts the same, and the number of sections. */
    public void assertCounted(String type, String name, long sections) {
        assertNanos(usage(type, name, sections).cpuNanos());
    }

    /** Returns what a named account used in a number of sections that were all closed on their threads. */
    static AccountUsage usage(String type, String name, long sections) {
        await(() -> row(type, name).sections() >= sections, "sections of " + name + " are missing");
        AccountUsage row = complete(row(type, name));
        assertThat(row.sections()).as("%s", row).isEqualTo(sections);
        return row;
    }

    private static AccountUsage complete(AccountUsage row) {
        assertThat(row.uncounted() + row.unclosed() + row.misclosed())
                .as("%s", row)
                .isZero();
        return row;
    }

    /** Returns the row of a named account, of which no section is open. */
    static AccountUsage row(String type, String name) {
        AccountType accounts = CpuAccounts.type(type);
        await(
                () -> accounts.read().openSections().stream()
                        .noneMatch(section -> section.name().equals(name)),
                "a section of " + name + " is still open");
        return accounts.read().accounts().stream()
                .filter(row -> row.name().equals(name))
                .findAny()
                .orElse(new AccountUsage(type, name, 0, 0, -1, -1, 0, 0, 0, 0, null));
    }

    /** Ends an account without errors and returns its CPU time. */
    public static long end(CpuAccount account) {
        await(() -> openSections(account) == 0, "sections are still open");
        CpuUsage usage = account.done();
        assertThat(usage.isComplete()).as("%s", usage).isTrue();
        return usage.cpuNanos();
    }

    /** Returns how many threads have sections of an account open. */
    static int openSections(CpuAccount account) {
        try {
            Field field = account.getClass().getDeclaredField("sections");
            field.setAccessible(true);
            int open = 0;
            for (Object section : ((Map<?, ?>) field.get(account)).values()) {
                Method isOpen = section.getClass().getDeclaredMethod("isOpen");
                isOpen.setAccessible(true);
                if ((Boolean) isOpen.invoke(section)) open++;
            }
            return open;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("CpuAccount has changed", e);
        }
    }
}
