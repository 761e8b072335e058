// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;
import org.taskclock.web.http.WebException;

/**
 * A receiver of webhooks.
 *
 * @param uri its address, which may contain a secret
 */
public record WebhookTarget(Format format, URI uri) {
    /** The form of the messages. */
    public enum Format {
        /** That of Alertmanager's webhooks, version 4. */
        ALERTMANAGER {
            @Override
            byte[] message(FindingGroup group) {
                return AlertmanagerMessage.of(group);
            }
        },
        /** That of Slack's incoming webhooks, which other chat servers accept, too. */
        SLACK {
            @Override
            byte[] message(FindingGroup group) {
                return SlackMessage.of(group);
            }
        };

        abstract byte[] message(FindingGroup group);

        /** Returns whether a message says when a finding ends unless it is sent again, which people would not want. */
        boolean hasEnd() {
            return this == ALERTMANAGER;
        }
    }

    /**
     * Parses [FORMAT=]URL.
     *
     * @param origin where the text comes from, for messages, which do not contain the text
     */
    public static WebhookTarget parse(String origin, String text) throws WebException {
        int equals = text.indexOf('=');
        boolean hasFormat = equals >= 0 && text.substring(0, equals).chars().allMatch(Character::isLetter);
        String name = hasFormat ? text.substring(0, equals) : Format.ALERTMANAGER.name();
        try {
            Format format = Format.valueOf(name.toUpperCase(Locale.ROOT));
            URI uri = new URI(hasFormat ? text.substring(equals + 1) : text);
            if (uri.getHost() != null
                    && uri.getUserInfo() == null
                    && Set.of("http", "https").contains(String.valueOf(uri.getScheme())))
                return new WebhookTarget(format, uri);
        } catch (URISyntaxException | IllegalArgumentException e) {
            // Reported below.
        }
        throw new WebException(
                origin + ": must be a URL such as https://hooks.example.com/taskclock, or slack= and a URL");
    }

    /** Returns the part of the address that is not secret. */
    @Override
    public String toString() {
        return uri.getScheme() + "://" + uri.getRawAuthority();
    }
}
