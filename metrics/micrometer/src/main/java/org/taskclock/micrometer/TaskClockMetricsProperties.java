// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.taskclock.metrics.PoolCounters;

/** The properties of {@link TaskClockMetricsAutoConfiguration}. */
@ConfigurationProperties("taskclock.metrics")
record TaskClockMetricsProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("" + PoolCounters.DEFAULT_MAX_POOLS) int maxPools) {}
