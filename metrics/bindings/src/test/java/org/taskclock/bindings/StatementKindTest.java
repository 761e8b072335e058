// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatementKindTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "select 1 | SELECT",
                "SELECT(1) | SELECT",
                "((select 1) union (select 2)) | SELECT",
                "'/* delete */ -- insert\n update t set a = 1' | UPDATE",
                "insert | INSERT",
                "delete from t | DELETE",
                "selected | OTHER",
                "merge into t | OTHER",
                "{call f()} | OTHER",
                "/* select | OTHER",
                "-- select | OTHER",
                "'' | OTHER"
            })
    void shouldFindTheKeyword(String sql, StatementKind expected) {
        assertThat(StatementKind.of(sql)).isEqualTo(expected);
    }
}
