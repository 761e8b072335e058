// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;

/**
 * The server that {@code overhead} measures: one virtual thread per connection, and clients in the same JVM, each on a
 * virtual thread too. Arguments: seconds to warm up, seconds to measure, and optionally a number of windows, half of
 * them with the agent's accounting switched off.
 */
public final class ServerProgram {
    /**
     * One measurement. CPU times are those of the process: server, clients, and the JVM itself.
     *
     * @param accounting whether accounting was on; null if it was not switched
     */
    record Figures(Boolean accounting, double seconds, long requests, long cpuNanos, long userNanos, long systemNanos) {
        double requestsPerSecond() {
            return requests / seconds;
        }

        double microsPerRequest() {
            return cpuNanos / 1e3 / requests;
        }
    }

    private static final int CONNECTIONS = 64;
    /** About 10 us. */
    private static final int ITERATIONS = 10_000;

    /** The pause between switching and measuring. */
    private static final double SETTLE_SECONDS = 0.1;

    private static final LongAdder requests = new LongAdder();
    private static volatile boolean running = true;
    private static volatile long unusedSink;

    private ServerProgram() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        List<Thread> clients = new ArrayList<>();
        try (ServerSocket listener = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < CONNECTIONS; i++) {
                Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                client.setTcpNoDelay(true);
                Socket accepted = listener.accept();
                accepted.setTcpNoDelay(true);
                VirtualThreadSupport.start("server-" + i, () -> serve(accepted));
                clients.add(VirtualThreadSupport.start("client-" + i, () -> request(client)));
            }
        }
        sleep(Double.parseDouble(args[0]));
        double seconds = Double.parseDouble(args[1]);
        if (args.length > 2) switchAndMeasure(seconds, Integer.parseInt(args[2]));
        else print(measure(null, seconds));
        running = false;
        for (Thread client : clients) client.join();
    }

    /** Measures in the order on, off, off, on, and so on, so that drift affects both equally. */
    private static void switchAndMeasure(double seconds, int windows) {
        for (int i = 0; i < windows; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            AgentAccounting.setEnabled(accounting);
            sleep(SETTLE_SECONDS);
            print(measure(accounting, seconds));
        }
    }

    private static Figures measure(Boolean accounting, double seconds) {
        CpuTime before = ProcessClock.current().now();
        long count = requests.sum();
        long start = System.nanoTime();
        sleep(seconds);
        CpuTime spent = ProcessClock.current().now().minus(before);
        return new Figures(
                accounting,
                (System.nanoTime() - start) / 1e9,
                requests.sum() - count,
                spent.cpuNanos(),
                spent.userNanos(),
                spent.systemNanos());
    }

    private static void print(Figures figures) {
        System.out.println(new Gson().toJson(figures));
    }

    private static void sleep(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long left;
        while ((left = end - System.nanoTime()) > 0) LockSupport.parkNanos(left);
    }

    private static void request(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            while (running) {
                out.write(1);
                if (in.read() < 0) throw new IllegalStateException("the server closed the connection");
                requests.increment();
            }
        } catch (IOException e) {
            throw new IllegalStateException("a connection failed", e);
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            int request;
            while ((request = in.read()) >= 0) {
                long value = request;
                for (int i = 0; i < ITERATIONS; i++) value = value * 6364136223846793005L + 1442695040888963407L;
                unusedSink = value;
                out.write(request);
            }
        } catch (IOException e) {
            throw new IllegalStateException("a connection failed", e);
        }
    }
}
