// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.tasks.TaskResourceTrackingService;
import org.opensearch.transport.Netty4ModulePlugin;

/** One OpenSearch node in this JVM, on a free port of 127.0.0.1, with its data in a temporary directory. */
final class SearchNode implements AutoCloseable {
    private final Path home;
    private final Node node;

    /** Node's constructor is protected. */
    private static final class EmbeddedNode extends Node {
        EmbeddedNode(Settings settings) {
            super(
                    InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
                    List.of(plugin()),
                    false);
        }

        private static PluginInfo plugin() {
            String name = Netty4ModulePlugin.class.getName();
            return new PluginInfo(
                    name, "transport", "", Version.CURRENT, "21", name, null, Collections.emptyList(), false);
        }
    }

    SearchNode() throws Exception {
        home = Files.createTempDirectory("taskclock-opensearch");
        node = new EmbeddedNode(Settings.builder()
                .put("path.home", home.toString())
                .put("cluster.name", "taskclock")
                .put("node.name", "node")
                .put("discovery.type", "single-node")
                .put("network.host", "127.0.0.1")
                .put("http.port", "0")
                .put("transport.port", "0")
                .put("transport.type", "netty4")
                .put("http.type", "netty4")
                // Garbage of earlier searches would make it reject the next one.
                .put("indices.breaker.total.use_real_memory", false)
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build());
        node.start();
    }

    /** Returns the address of the REST API. */
    InetSocketAddress address() {
        return node.injector()
                .getInstance(HttpServerTransport.class)
                .boundAddress()
                .publishAddress()
                .address();
    }

    TaskResourceTrackingService tracking() {
        return node.injector().getInstance(TaskResourceTrackingService.class);
    }

    @Override
    public void close() throws IOException {
        node.close();
        try (Stream<Path> files = Files.walk(home)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
