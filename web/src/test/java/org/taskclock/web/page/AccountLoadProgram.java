// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.testing.LoadProgram;

/**
 * A program that counts CPU time for tenants and endpoints, and has one long section. Arguments are the names of
 * tenants.
 */
final class AccountLoadProgram {
    static final String TENANTS = "tenant";
    static final String ENDPOINTS = "endpoint";

    /** HTML, which is longer than a column. */
    static final String HTML = LoadProgram.HOSTILE_NAME + " and ".repeat(25);

    /** Characters that change the direction of the text after them, and control characters. */
    static final String DIRECTIONS = "\u202eevil\u202c =a\u0007\u0000b";

    /** In right-to-left letters. */
    static final String HEBREW = "\u05d0\u05d1\u05d2";

    static final String SLOW = "slow import";

    /** The milliseconds of CPU time that each tenant uses at a time. Between them is a pause of 20 ms. */
    static final Map<String, Integer> MILLIS = Map.of("acme", 5, HTML, 3, DIRECTIONS, 2, HEBREW, 1);

    private AccountLoadProgram() {}

    @SuppressWarnings("try") // the sections only need to be open
    public static void main(String[] args) throws Exception {
        AccountType tenants = CpuAccounts.type(TENANTS).withWaitTime().withDistribution();
        AccountType endpoints = CpuAccounts.type(ENDPOINTS);
        Map<String, Integer> loads = new LinkedHashMap<>(args.length == 0 ? MILLIS : Map.of());
        for (String arg : args) loads.put(arg, loads.size() * 2 + 1);
        loads.forEach((tenant, millis) -> start("http-exec-" + millis, () -> {
            while (true) {
                try (var section = tenants.of(tenant).enter();
                        var inner = endpoints
                                .of(millis == 1 ? "/search" : "/orders")
                                .enter()) {
                    burn(millis);
                }
                sleep(20);
            }
        }));
        start("importer", () -> {
            try (var section = tenants.of(SLOW).enter()) {
                while (true) {
                    burn(1);
                    sleep(50);
                }
            }
        });
        System.out.println("done");
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(0);
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void burn(int millis) {
        long end = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
