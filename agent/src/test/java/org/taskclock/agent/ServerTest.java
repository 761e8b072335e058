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
import org.taskclock.internal.JdkVersions;

/** Sends requests to a Jetty server that measures each of them with ThreadMXBean, as query engines do. */
class ServerTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final String EXPECTED = "3000 requests, 0 wrong answers, 0 wrong times, at most 1% without time";

    @Test
    void shouldGiveTheSameAnswers() throws IOException, InterruptedException {
        String without = runServer(JvmLauncher.withoutAgent());
        String with = runServer(JvmLauncher.withAgent("yield=count"));
        assertThat(with).isEqualTo(without).isEqualTo(EXPECTED);
    }

    /** The times of virtual threads must also add up. ThreadMXBean reports them only with the agent. */
    @Test
    @EnabledForJreRange(minVersion = JdkVersions.VIRTUAL_THREADS, disabledReason = "this JDK has no virtual threads")
    void shouldAccountForVirtualThreads() throws IOException, InterruptedException {
        assertThat(runServer(VirtualThreadsTest.agent("virtual=mxbean"), "virtual"))
                .isEqualTo(EXPECTED);
    }

    private static String runServer(JvmLauncher jvm, String... threads) throws IOException, InterruptedException {
        return jvm.option("-Dslf4j.internal.verbosity=ERROR") // no message about the missing logger
                .run(LoadedServer.class, threads)
                .assertSilent()
                .out();
    }

    static final class LoadedServer {
        private static final int CLIENTS = 6;
        private static final int REQUESTS = 500;

        public static void main(String[] args) throws Exception {
            boolean virtual = args.length > 0;
            ThreadPool pool = virtual ? new VirtualThreadPool() : new QueuedThreadPool();
            Server server = new Server(pool);
            ServerConnector connector = new ServerConnector(server);
            connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
            server.addConnector(connector);
            server.setHandler(new MeasuringHandler());
            server.start();
            URI uri = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/");
            int[] errors = load(uri);
            if (virtual) assertAddsUp();
            server.stop();
            System.out.print(
                    CLIENTS * REQUESTS + " requests, " + errors[0] + " wrong answers, " + errors[1] + " wrong times, "
                            + (errors[2] <= CLIENTS * REQUESTS / 100 ? "at most 1%" : errors[2]) + " without time");
        }

        /** Asserts that requests <= virtual threads <= carriers. */
        private static void assertAddsUp() throws Exception {
            long threads = VirtualThreadsTest.assertAddsUp();
            assertThat(MeasuringHandler.allNanos.sum()).isPositive().isLessThanOrEqualTo(threads);
        }

        private static int[] load(URI uri) throws InterruptedException, ExecutionException {
            HttpClient client = HttpClient.newHttpClient();
            ExecutorService pool = Executors.newFixedThreadPool(CLIENTS);
            List<Future<int[]>> clients = new ArrayList<>();
            for (int c = 0; c < CLIENTS; c++) clients.add(pool.submit(() -> requests(client, uri)));
            int[] errors = new int[3];
            for (Future<int[]> done : clients) for (int i = 0; i < errors.length; i++) errors[i] += done.get()[i];
            pool.shutdown();
            return errors;
        }

        private static int[] requests(HttpClient client, URI uri) throws IOException, InterruptedException {
            int[] errors = new int[3];
            for (int i = 0; i < REQUESTS; i++) {
                HttpRequest request =
                        HttpRequest.newBuilder(uri.resolve("?n=" + i)).build();
                HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
                String[] fields = response.body().split(" ", -1);
                if (response.statusCode() != 200 || !fields[0].equals(MeasuringHandler.work(i) + "")) errors[0]++;
                long cpu = Long.parseLong(fields[1]);
                long wall = Long.parseLong(fields[2]);
                // CPU time cannot exceed wall-clock time by more than the resolution of the two.
                if (cpu < 0 || cpu > wall + 1_000_000) errors[1]++;
                // After the host has stolen time, the clock stops until the kernel's clock has caught up.
                if (cpu == 0) errors[2]++;
            }
            return errors;
        }
    }

    static final class MeasuringHandler extends Handler.Abstract {
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
