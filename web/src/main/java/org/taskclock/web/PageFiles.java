// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.List;
import org.eclipse.jetty.compression.gzip.GzipCompression;
import org.eclipse.jetty.compression.gzip.GzipEncoderConfig;
import org.eclipse.jetty.compression.server.CompressionConfig;
import org.eclipse.jetty.compression.server.CompressionHandler;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.resource.Resource;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.taskclock.web.http.AccessHandler;

/** The files of the page, which are in the jar. */
final class PageFiles {
    private static final String DIRECTORY = "org/taskclock/web/page/";

    /** The types of what is compressed. Others, such as recordings, already are. */
    private static final List<String> TEXT = List.of(
            "application/json",
            "application/openmetrics-text",
            "image/svg+xml",
            "text/css",
            "text/csv",
            "text/event-stream",
            "text/html",
            "text/javascript",
            "text/plain");

    private static final int MIN_COMPRESSED_BYTES = 1_024;
    private static final int BUFFER_BYTES = 16_384;

    private PageFiles() {}

    /** Returns a handler that sends the files if the API does not answer a request. */
    static Handler after(Handler api) {
        Handler.Sequence all = new Handler.Sequence(api);
        Resource page = ResourceFactory.of(all).newClassLoaderResource(DIRECTORY);
        if (page == null) return compressed(all);
        ResourceHandler assets = handler(page);
        assets.setWelcomeFiles(List.of());
        all.addHandler(new ContextHandler(assets, AccessHandler.ASSETS));
        all.addHandler(new Handler.Wrapper(handler(page)) {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                return Request.getPathInContext(request).equals("/") && super.handle(request, response, callback);
            }
        });
        return compressed(all);
    }

    private static Handler compressed(Handler handler) {
        CompressionHandler compression = new CompressionHandler(handler);
        GzipCompression gzip = new GzipCompression();
        gzip.setMinCompressSize(MIN_COMPRESSED_BYTES);
        GzipEncoderConfig encoder = new GzipEncoderConfig();
        // Events must not wait in a buffer. Full buffers are flushed as well, which takes bytes, so buffers are large.
        encoder.setSyncFlush(true);
        encoder.setBufferSize(BUFFER_BYTES);
        gzip.setDefaultEncoderConfig(encoder);
        compression.putCompression(gzip);
        // Requests are not decompressed, because their size is limited.
        CompressionConfig.Builder config = CompressionConfig.builder()
                .decompressExcludePath("/*")
                .compressIncludeMethod(HttpMethod.GET.asString());
        TEXT.forEach(config::compressIncludeMimeType);
        compression.putConfiguration("/*", config.build());
        return compression;
    }

    private static ResourceHandler handler(Resource directory) {
        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(directory);
        files.setDirAllowed(false);
        files.setWelcomeFiles("index.html");
        files.setEtags(true);
        files.setCacheControl("no-cache");
        return files;
    }
}
