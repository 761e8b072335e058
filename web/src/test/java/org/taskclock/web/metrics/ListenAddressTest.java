// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenAddressTest {
    @ParameterizedTest
    @ValueSource(strings = {"9464", "localhost", "localhost:x", "localhost:70000", "localhost:-1", ":", ""})
    void shouldRejectAddressesWithoutPort(String address) {
        assertThatThrownBy(() -> ListenAddress.parse("--web.listen-address", address))
                .hasMessageStartingWith("--web.listen-address " + address);
    }

    @Test
    void shouldParseAddresses() throws ExporterException {
        assertThat(ListenAddress.parse("--web.listen-address", "127.0.0.1:9464")
                        .getAddress()
                        .isLoopbackAddress())
                .isTrue();
        assertThat(ListenAddress.parse("--web.listen-address", "[::1]:9464")
                        .getAddress()
                        .isLoopbackAddress())
                .isTrue();
        assertThat(ListenAddress.parse("--web.listen-address", ":9464")
                        .getAddress()
                        .isAnyLocalAddress())
                .isTrue();
    }

    @Test
    void shouldPrintNoControlCharactersOfAnOption() {
        assertThat(new ExporterException("a\u001b[2J\nb")).hasMessage("a?[2J?b");
    }
}
