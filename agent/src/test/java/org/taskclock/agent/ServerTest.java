// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ThreadPool;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;

/** A Jetty under load that accounts for each request by its ThreadMXBean, as engines do. */
class ServerTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final String EXPECTED = "3000 requests, 0 wrong answers, 0 wrong times, hardly any without time";

    @Test
    void shouldGiveTheSameAnswers() throws IOException, InterruptedException {
        String without = loaded(Jvm.plain());
        String with = loaded(Jvm.with("yield=count"));
        assertThat(with).isEqualTo(without).isEqualTo(EXPECTED);
    }

    /** The same on virtual threads, which only the agent makes known to the bean, and whose times must add up. */
    @Test
    @EnabledForJreRange(minVersion = 21, disabledReason = "this JDK has no virtual threads")
    void shouldAccountForVirtualThreads() throws IOException, InterruptedException {
        assertThat(loaded(VirtualThreadsTest.agent("virtual=mxbean"), "virtual"))
                .isEqualTo(EXPECTED);
    }

    private static String loaded(Jvm jvm, String... threads) throws IOException, InterruptedException {
        return jvm.option("-Dslf4j.internal.verbosity=ERROR") // no word of the logger that is not there
                .run(Loaded.class, threads)
                .silently()
                .out();
    }

    static final class Loaded {
        private static final int CLIENTS = 6;
        private static final int REQUESTS = 500;

        public static void main(String[] args) throws Exception {
            boolean virtual = args.length > 0;
            ThreadPool pool = virtual ? new VirtualThreadPool() : new QueuedThreadPool();
            Server server = new Server(pool);
            ServerConnector connector = new ServerConnector(server);
            connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
            server.addConnector(connector);
            server.setHandler(new Accounting());
            server.start();
            URI uri = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/");
            int[] odd = load(uri);
            if (virtual) assertAddsUp();
            server.stop();
            System.out.print(
                    CLIENTS * REQUESTS + " requests, " + odd[0] + " wrong answers, " + odd[1] + " wrong times, "
                            + (odd[2] <= CLIENTS * REQUESTS / 100 ? "hardly any" : odd[2]) + " without time");
        }

        /** Requests are part of what the virtual threads used, which are part of what the carriers used. */
        private static void assertAddsUp() throws Exception {
            long threads = VirtualThreadsTest.assertAddsUp();
            assertThat(Accounting.allNanos.sum()).isPositive().isLessThanOrEqualTo(threads);
        }

        private static int[] load(URI uri) throws InterruptedException, ExecutionException {
            HttpClient client = HttpClient.newHttpClient();
            ExecutorService pool = Executors.newFixedThreadPool(CLIENTS);
            List<Future<int[]>> clients = new ArrayList<>();
            for (int c = 0; c < CLIENTS; c++) clients.add(pool.submit(() -> requests(client, uri)));
            int[] odd = new int[3];
            for (Future<int[]> done : clients) for (int i = 0; i < odd.length; i++) odd[i] += done.get()[i];
            pool.shutdown();
            return odd;
        }

        private static int[] requests(HttpClient client, URI uri) throws IOException, InterruptedException {
            int[] odd = new int[3];
            for (int i = 0; i < REQUESTS; i++) {
                HttpRequest request =
                        HttpRequest.newBuilder(uri.resolve("?n=" + i)).build();
                HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
                String[] words = response.body().split(" ", -1);
                if (response.statusCode() != 200 || !words[0].equals(Accounting.work(i) + "")) odd[0]++;
                long cpu = Long.parseLong(words[1]);
                long wall = Long.parseLong(words[2]);
                // Time of a thread passes no faster than the clock on the wall, but for the grain of the two.
                if (cpu < 0 || cpu > wall + 1_000_000) odd[1]++;
                // After a host took time away the clock stands until the kernel's has come that far.
                if (cpu == 0) odd[2]++;
            }
            return odd;
        }
    }

    static final class Accounting extends Handler.Abstract {
        static final LongAdder allNanos = new LongAdder();

        static long work(long n) {
            long sum = n;
            for (int i = 0; i < 100_000; i++) sum = sum * 6364136223846793005L + i;
            return sum;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            long n = Long.parseLong(request.getHttpURI().getQuery().substring("n=".length()));
            long wall = System.nanoTime();
            long cpu = BEAN.getCurrentThreadCpuTime();
            long result = work(n);
            long used = BEAN.getThreadCpuTime(Thread.currentThread().getId()) - cpu;
            allNanos.add(used);
            String text = result + " " + used + " " + (System.nanoTime() - wall);
            response.write(true, ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), callback);
            return true;
        }
    }
}
