// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.nio.file.Path;

/**
 * The source of the figures of a fleet.
 *
 * @param url the address in front of /api/v1/query
 * @param config the file of {@link org.taskclock.web.http.ClientConfig}; null for none
 * @param hostUrl the pattern of {@link HostUrl}
 * @param price of an hour of one processor; null if it is unknown
 */
public record PrometheusOptions(String url, Path config, String hostUrl, Double price) {}
