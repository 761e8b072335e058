// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.taskclock.history.HistoryOptions;
import org.taskclock.web.http.OidcOptions;
import org.taskclock.web.metrics.ExporterOptions;
import org.taskclock.web.webhook.WebhookTarget;

/**
 * The options of the server.
 *
 * @param exporter the options of sampling and metrics; {@link ExporterOptions#listenAddress} and
 *     {@link ExporterOptions#webConfig} are those of the server
 * @param data the directory of the history
 * @param history how much history is kept
 * @param historyUpload where each day of the history is uploaded to, as s3://BUCKET/PREFIX; null for nowhere
 * @param tokenFile the file with the token that requests need; null for none
 * @param oidc the login at an identity provider; null for none
 * @param allowsActions whether the page may ask JVMs for stacks, profile them, count yields, load the agent, write
 *     recordings, and add marks
 * @param keepsEvidence whether a finding that begins causes a thread dump and a profile of its JVM
 * @param profilePercent how much of one core continuous profiles may cost each JVM, in percent; 0 for no profiles
 * @param webhooks who receives findings
 * @param allowedHosts names of this host, besides those of the loopback interface, that requests may use
 * @param externalUrl the address of the page behind a proxy; null if there is none
 * @param bundles writes what a user wants to send to a colleague
 * @param clock the time of day
 */
public record ServerOptions(
        ExporterOptions exporter,
        Path data,
        HistoryOptions history,
        String historyUpload,
        Path tokenFile,
        OidcOptions oidc,
        boolean allowsActions,
        boolean keepsEvidence,
        double profilePercent,
        List<WebhookTarget> webhooks,
        List<String> allowedHosts,
        String externalUrl,
        BundleWriter bundles,
        Clock clock) {}
