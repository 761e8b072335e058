// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;

/** Records the spans that another sampler drops, so that processors see them. They are not exported. */
record RecordingSampler(Sampler sampler) implements Sampler {
    /** A result of the other sampler, with all but its decision. */
    private record RecordOnly(SamplingResult dropped) implements SamplingResult {
        @Override
        public SamplingDecision getDecision() {
            return SamplingDecision.RECORD_ONLY;
        }

        @Override
        public Attributes getAttributes() {
            return dropped.getAttributes();
        }

        @Override
        public TraceState getUpdatedTraceState(TraceState parent) {
            return dropped.getUpdatedTraceState(parent);
        }
    }

    @Override
    public SamplingResult shouldSample(
            Context parent, String traceId, String name, SpanKind kind, Attributes attributes, List<LinkData> links) {
        SamplingResult result = sampler.shouldSample(parent, traceId, name, kind, attributes, links);
        return result.getDecision() == SamplingDecision.DROP ? new RecordOnly(result) : result;
    }

    @Override
    public String getDescription() {
        return "TaskClockRecording{" + sampler.getDescription() + "}";
    }

    /** The SDK prints this. */
    @Override
    public String toString() {
        return getDescription();
    }
}
