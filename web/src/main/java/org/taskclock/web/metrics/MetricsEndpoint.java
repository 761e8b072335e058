// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.config.PrometheusProperties;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.MetricNameFilter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.Routes;

/** Answers scrapes, in the format that the client prefers. The parameter name[] selects metrics. */
public final class MetricsEndpoint implements Routes.Endpoint {
    private static final long MIN_BYTES = 1 << 20;

    private static final int BUFFER_BYTES = 64 << 10;

    /** Whether text has the times at which counters were 0. */
    private static final boolean HAS_CREATED =
            PrometheusProperties.get().getExporterProperties().getIncludeCreatedTimestamps();

    private final PrometheusMetrics metrics;
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final RequestBudget budget;

    /** The size of the last answer, as text and compressed. */
    private final AtomicIntegerArray sizes = new AtomicIntegerArray(2);

    public MetricsEndpoint(PrometheusMetrics metrics, RequestBudget budget) {
        registry.register(metrics);
        this.metrics = metrics;
        this.budget = budget;
    }

    @Override
    public void answer(Call call) throws ApiException, IOException {
        List<String> names = Request.extractQueryParameters(call.request).getValuesOrEmpty("name[]");
        ExpositionFormatWriter writer =
                formats.findWriter(call.request.getHeaders().get(HttpHeader.ACCEPT));
        boolean isZipped = call.request.getHeaders().contains(HttpHeader.ACCEPT_ENCODING, "gzip");
        int size = sizes.get(isZipped ? 1 : 0);
        // The body, and copies of it while the array grows.
        RequestBudget.Share share = budget.take(call, Math.max(MIN_BYTES, 3L * size));
        ByteArrayOutputStream body = new ByteArrayOutputStream(size + size / 8 + 1_024);
        if (isZipped) {
            // Compressed while it is written, so that the text is never in memory as a whole.
            try (OutputStream zip = new BufferedOutputStream(new FastGzipStream(body), BUFFER_BYTES)) {
                write(zip, writer, names);
            }
            call.response.getHeaders().put(HttpHeader.CONTENT_ENCODING, "gzip");
        } else {
            write(body, writer, names);
        }
        sizes.set(isZipped ? 1 : 0, body.size());
        share.keep(body.size());
        call.send(200, writer.getContentType(), body.toByteArray());
    }

    private void write(OutputStream out, ExpositionFormatWriter writer, List<String> names) throws IOException {
        boolean isText = writer instanceof OpenMetricsTextFormatWriter || writer instanceof PrometheusTextFormatWriter;
        if (isText && names.isEmpty() && !HAS_CREATED) metrics.write(out, writer);
        else if (names.isEmpty()) writer.write(out, registry.scrape());
        else {
            MetricNameFilter filter =
                    MetricNameFilter.builder().nameMustBeEqualTo(names).build();
            writer.write(out, registry.scrape(filter));
        }
    }

    /** Takes a third of the CPU time of the default level, and the result is a third longer. */
    private static final class FastGzipStream extends GZIPOutputStream {
        FastGzipStream(OutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
