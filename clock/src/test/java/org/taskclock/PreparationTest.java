// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests readings on many threads while the clock is not prepared, or cannot be. */
class PreparationTest {
    private static final int LIMIT_SECONDS = 20;

    @Test
    void shouldNotDeadlockWhileTheLibraryCannotBeLoaded() {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.library.path=/nonexistent"), UnpreparedReaders.class)
                .succeeded();
        assertThat(child.out()).isEqualTo("mxbean\n");
    }

    @Test
    void shouldNotWaitForThePreparation() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        ChildJvm child = ChildJvm.run(BlockedPreparation.class).succeeded();
        assertThat(child.out()).isEqualTo("mxbean meanwhile, " + ExpectedBackend.name() + " afterward\n");
    }

    /** Asks for the status and reads on several threads, for as long as the preparation is repeated often. */
    static final class UnpreparedReaders {
        private static final int THREADS = 4;
        private static final long NANOS = 2_000_000_000;

        private UnpreparedReaders() {}

        public static void main(String[] arguments) throws InterruptedException {
            long end = System.nanoTime() + NANOS;
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 2 * THREADS; i++) {
                Runnable call = i < THREADS ? TaskClock::status : TaskClock::cpuNanos;
                Thread thread = new Thread(() -> {
                    while (System.nanoTime() < end) call.run();
                });
                // A deadlock must not keep the JVM alive.
                thread.setDaemon(true);
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join(LIMIT_SECONDS * 1_000L);
                if (thread.isAlive()) throw new AssertionError(List.of(thread.getStackTrace()));
            }
            System.out.println(TaskClock.status().backend());
        }
    }

    /** Blocks the preparation while it reads a system property, and reads the clock on another thread. */
    static final class BlockedPreparation {
        private BlockedPreparation() {}

        public static void main(String[] arguments) throws InterruptedException {
            CountDownLatch isLoading = new CountDownLatch(1);
            CountDownLatch mayLoad = new CountDownLatch(1);
            Properties intercepted = new Properties() {
                private static final long serialVersionUID = 1;

                @Override
                public String getProperty(String key) {
                    if (key.equals(Library.PATH_PROPERTY)) {
                        isLoading.countDown();
                        await(mayLoad);
                    }
                    return super.getProperty(key);
                }
            };
            intercepted.putAll(System.getProperties());
            System.setProperties(intercepted);
            Thread first = new Thread(TaskClock::cpuNanos);
            first.start();
            await(isLoading);
            if (TaskClock.cpuNanos() < 0) throw new AssertionError("no reading");
            if (KernelReaders.tid() != -1) throw new AssertionError("the library is already loaded");
            Backend meanwhile = Backends.inUse();
            mayLoad.countDown();
            first.join();
            System.out.println(meanwhile + " meanwhile, " + TaskClock.status().backend() + " afterward");
        }

        private static void await(CountDownLatch latch) {
            try {
                if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) System.out.println("a reading waited");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
