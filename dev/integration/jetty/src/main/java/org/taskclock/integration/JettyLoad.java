// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executors;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with its handlers on virtual threads. With the argument {@code servlets}, they are servlets, in which the agent
 * finds accounts.
 */
public final class JettyLoad {
    private static final int CLIENTS = 32;

    private JettyLoad() {}

    public static void main(String[] args) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool();
        threads.setVirtualThreadsExecutor(Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("request").factory()));
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(List.of(args).contains("servlets") ? servlets() : handler());
        server.start();
        HttpClients.start(
                Load.register(), connector.getLocalPort(), CLIENTS, "/primes/1000", "/block", "/json", "/primes/5000");
        Load.awaitEnd();
    }

    private static Handler handler() {
        return new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                String path = Request.getPathInContext(request);
                Content.Sink.write(response, true, answer(path), callback);
                return true;
            }
        };
    }

    private static Handler servlets() {
        ServletContextHandler context = new ServletContextHandler("/");
        for (String pattern : List.of("/primes/*", "/block", "/json")) context.addServlet(new AnswerServlet(), pattern);
        return context;
    }

    private static final class AnswerServlet extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getOutputStream().print(answer(request.getRequestURI()));
        }
    }

    private static String answer(String path) {
        if (path.startsWith("/primes/")) {
            return String.valueOf(RequestWork.primes(Integer.parseInt(path.substring("/primes/".length()))));
        }
        if (path.equals("/json")) return RequestWork.json(100);
        RequestWork.block();
        return Thread.currentThread().isVirtual() ? "virtual" : "platform";
    }
}
