// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.MetricNameFilter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.Routes;

/** Answers scrapes, in the format that the client prefers. The parameter name[] selects metrics. */
public final class MetricsEndpoint implements Routes.Endpoint {
    private static final long MIN_BYTES = 1 << 20;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final RequestBudget budget;

    /** The size of the last answer. */
    private volatile int lastBytes;

    public MetricsEndpoint(PrometheusMetrics metrics, RequestBudget budget) {
        registry.register(metrics);
        this.budget = budget;
    }

    @Override
    public void answer(Call call) throws ApiException, IOException {
        List<String> names = Request.extractQueryParameters(call.request).getValuesOrEmpty("name[]");
        ExpositionFormatWriter writer =
                formats.findWriter(call.request.getHeaders().get(HttpHeader.ACCEPT));
        // The text, and copies of it while the array grows.
        RequestBudget.Share share = budget.take(call, Math.max(MIN_BYTES, 3L * lastBytes));
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        writer.write(
                body,
                names.isEmpty()
                        ? registry.scrape()
                        : registry.scrape(MetricNameFilter.builder()
                                .nameMustBeEqualTo(names)
                                .build()));
        lastBytes = body.size();
        share.keep(lastBytes);
        call.send(200, writer.getContentType(), body.toByteArray());
    }
}
