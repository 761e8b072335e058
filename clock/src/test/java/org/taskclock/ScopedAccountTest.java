// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;

/**
 * Tests the guide's examples with scoped values and virtual threads. A child JVM compiles them, because these sources
 * are compiled for JDK 17.
 */
class ScopedAccountTest {
    private static final String MAIN = """
            import java.util.concurrent.Executors;
            import org.taskclock.CpuAccount;
            import org.taskclock.CpuUsage;
            import org.taskclock.TaskClock;

            public class Main {
                static final ScopedValue<CpuAccount> ACCOUNT = ScopedValue.newInstance();

                public static void main(String[] arguments) throws Exception {
                    CpuAccount account = CpuAccount.create();
                    ScopedValue.where(ACCOUNT, account).call(() -> {
                        handle();
                        return null;
                    });
                    CpuUsage usage = account.done();
                    System.out.println("on a pool " + (usage.cpuNanos() > 10_000_000 && usage.isComplete()));

                    CpuAccount virtual = CpuAccount.create();
                    var factory = virtual.wrap(Thread.ofVirtual().factory());
                    try (var perTask = Executors.newThreadPerTaskExecutor(factory)) {
                        for (int i = 0; i < 10; i++) perTask.submit(Main::scan);
                    }
                    System.out.println("on virtual threads, uncounted " + virtual.now().uncounted());
                }

                static void handle() throws Exception {
                    try (var pool = Executors.newFixedThreadPool(2)) {
                        pool.submit(ACCOUNT.get().wrap(Main::scan)).get();
                    }
                }

                static Long scan() {
                    long end = System.nanoTime() + 50_000_000;
                    long cpu = TaskClock.cpuNanos(); // -1 on a virtual thread
                    while (System.nanoTime() < end || cpu >= 0 && TaskClock.cpuNanos() - cpu < 20_000_000)
                        Thread.onSpinWait();
                    return end;
                }
            }
            """;

    @TempDir
    Path directory;

    @Test
    void shouldCarryAnAccountInAScopedValue() throws IOException {
        assumeTrue(Runtime.version().feature() >= JdkVersions.SCOPED_VALUES, "this JDK has no scoped values");
        Path main = Files.writeString(directory.resolve("Main.java"), MAIN);
        String jar = System.getProperty("test.jar");
        ChildJvm child = ChildJvm.run(
                        List.of(ChildJvm.java(), "--enable-native-access=ALL-UNNAMED", "-cp", jar, main.toString()))
                .succeeded();
        assertThat(child.out()).contains("on a pool true", "on virtual threads, uncounted 10");
    }
}
