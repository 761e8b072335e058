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
 * What is measured by {@code overhead}: a server with a virtual thread for each connection, and clients in the same JVM, each with a
 * virtual thread too. Arguments: seconds to warm up, seconds to measure; and, where the agent's accounting is to be switched on and off
 * meanwhile, how many times it is measured so.
 */
public final class Server {
    /**
     * The CPU time is that of the process: both ends, and all that the JVM does besides.
     *
     * @param accounting null if it was not switched
     */
    record Figures(
            Boolean accounting, double seconds, long requests, long cpuNanos, long userNanos, long systemNanos) {}

    private static final int CONNECTIONS = 64;
    /** Some 10 us. */
    private static final int ARITHMETIC = 10_000;

    /** After switching, before it is measured. */
    private static final double SETTLE_SECONDS = 0.1;

    private static final LongAdder requests = new LongAdder();
    private static volatile boolean running = true;
    private static volatile long unusedSink;

    private Server() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        List<Thread> clients = new ArrayList<>();
        try (ServerSocket listener = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < CONNECTIONS; i++) {
                Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                client.setTcpNoDelay(true);
                Socket accepted = listener.accept();
                accepted.setTcpNoDelay(true);
                Virtual.start("server-" + i, () -> serve(accepted));
                clients.add(Virtual.start("client-" + i, () -> ask(client)));
            }
        }
        sleep(Double.parseDouble(args[0]));
        double seconds = Double.parseDouble(args[1]);
        if (args.length > 2) switchAndMeasure(seconds, Integer.parseInt(args[2]));
        else say(measure(null, seconds));
        running = false;
        for (Thread client : clients) client.join();
    }

    /** On, off, off, on, and so on: what changes by itself meanwhile falls to both. */
    private static void switchAndMeasure(double seconds, int times) {
        for (int i = 0; i < times; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            Accounts.account(accounting);
            sleep(SETTLE_SECONDS);
            say(measure(accounting, seconds));
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

    private static void say(Figures figures) {
        System.out.println(new Gson().toJson(figures));
    }

    private static void sleep(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long left;
        while ((left = end - System.nanoTime()) > 0) LockSupport.parkNanos(left);
    }

    private static void ask(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            while (running) {
                out.write(1);
                if (in.read() < 0) throw new IllegalStateException("the server has gone");
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
                for (int i = 0; i < ARITHMETIC; i++) value = value * 6364136223846793005L + 1442695040888963407L;
                unusedSink = value;
                out.write(request);
            }
        } catch (IOException e) {
            throw new IllegalStateException("a connection failed", e);
        }
    }
}
