// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.web.http.WebException;

class PromQlTest {
    @Test
    void shouldKeepTextInsideItsString() {
        assertThat(PromQl.string("a\"} or up{x=\"")).isEqualTo("\"a\\\"} or up{x=\\\"\"");
        assertThat(PromQl.string("back\\slash\nline\u007f")).isEqualTo("\"back\\\\slash\\x0aline\\x7f\"");
        assertThat(PromQl.string("<b>Größe</b>")).isEqualTo("\"<b>Größe</b>\"");
    }

    @Test
    void shouldMatchTextsLiterally() {
        assertThat(PromQl.anyOf(List.of("a.b", "x|y", "a.b", ""))).isEqualTo("\"a\\\\.b|x\\\\|y|\"");
    }

    @ParameterizedTest
    @CsvSource({
        "https://{host}:10077/, node7:9100, https://node7:10077/",
        "https://{host}:10077/, node7, https://node7:10077/",
        "http://{instance}/, 10.0.0.7:10077, http://10.0.0.7:10077/",
        "http://{instance}/, '[fe80::1]:10077', 'http://[fe80::1]:10077/'",
        "https://watch.example.com/{host}/, node7:1, https://watch.example.com/node7/",
        "http://{instance}/, 'evil/#@other', ",
        "http://{instance}/, 'a b', ",
        "http://{instance}/, 'user@host:80', ",
        "http://{instance}/, '', ",
    })
    void shouldLinkOnlyToAddresses(String pattern, String instance, String url) throws WebException {
        assertThat(HostUrl.parse(pattern).of(instance)).isEqualTo(url);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"https://host:10077/", "javascript:alert({host})", "{host}", "http://{host", "ftp://{host}/"})
    void shouldRejectPatternsThatAreNoUrls(String pattern) {
        assertThatThrownBy(() -> HostUrl.parse(pattern))
                .isInstanceOf(WebException.class)
                .hasMessageStartingWith("--host-url " + pattern + ": must be");
    }
}
