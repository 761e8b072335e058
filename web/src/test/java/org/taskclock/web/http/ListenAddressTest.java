// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenAddressTest {
    @ParameterizedTest
    @ValueSource(strings = {"10077", "localhost", "localhost:x", "localhost:70000", "localhost:-1", ":", ""})
    void shouldRejectAddressesWithoutPort(String address) {
        assertThatThrownBy(() -> ListenAddress.parse("--web.listen-address", address))
                .hasMessageStartingWith("--web.listen-address " + address);
    }

    @Test
    void shouldParseAddresses() throws WebException {
        assertThat(ListenAddress.parse("--listen", "127.0.0.1:10077").isLoopback())
                .isTrue();
        ListenAddress v6 = ListenAddress.parse("--listen", "[::1]:10077");
        assertThat(v6.isLoopback()).isTrue();
        assertThat(v6.host()).isEqualTo("[::1]");
        ListenAddress all = ListenAddress.parse("--listen", ":10077");
        assertThat(all.socket().getAddress().isAnyLocalAddress()).isTrue();
        assertThat(all.host()).isEmpty();
    }

    @Test
    void shouldPrintNoControlCharactersOfAnOption() {
        assertThat(new WebException("a\u001b[2J\nb")).hasMessage("a?[2J?b");
    }
}
