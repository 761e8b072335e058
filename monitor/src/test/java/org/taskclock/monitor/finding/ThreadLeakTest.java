// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import org.junit.jupiter.api.Test;

class ThreadLeakTest {
    /** One pool grows all the time, one has grown once, and one grows slowly. */
    @Test
    void shouldRaiseTheAlertForPoolsThatKeepGrowing() throws Exception {
        String series = """
                taskclock_threads{jvm="orders-7",taskclock_pool_name="leaked-#",taskclock_pool_kind="java"} 10+5x120
                taskclock_threads{jvm="orders-7",taskclock_pool_name="exec-#",taskclock_pool_kind="java"} 10x5 210x115
                taskclock_threads{jvm="orders-7",taskclock_pool_name="slow-#",taskclock_pool_kind="java"} 10+1x120""";
        AlertRules.check(new ThreadLeak(), 20, series, "TaskClockThreadLeak", "");
        AlertRules.check(new ThreadLeak(), 110, series, "TaskClockThreadLeak", """
                {jvm="orders-7",taskclock_pool_name="leaked-#",taskclock_pool_kind="java"} orders-7 on host:10077: pool "leaked-#" \
                has grown by 150 threads in 30 minutes""");
    }
}
