// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoginsTest {
    @TempDir
    private Path directory;

    private final TestServer.Settings settings = new TestServer.Settings();

    private Logins logins() throws Exception {
        return new Logins(TestServer.options(directory, settings), (request, response) -> {}, line -> {});
    }

    @ParameterizedTest
    @CsvSource({
        "http://0.0.0.0:10077/, http://node7:10077/",
        "https://[::]:10077/, https://node7:10077/",
        "http://127.0.0.1:10077/, http://127.0.0.1:10077/",
        "http://10.0.0.0:1/, http://10.0.0.0:1/",
    })
    void shouldLinkToAnAddressThatOthersCanReach(String url, String page) throws Exception {
        assertThat(logins().page(url, "node7")).isEqualTo(page);
    }

    @Test
    void shouldLinkToTheProxy() throws Exception {
        settings.externalUrl = "https://example.com/taskclock/";
        assertThat(logins().page("http://0.0.0.0:10077/", "node7")).isEqualTo("https://example.com/taskclock/");
    }
}
