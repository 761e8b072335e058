// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import org.junit.jupiter.api.Test;

class ThreadLeakTest {
    /** One pool grows all the time, one has grown once, and one grows slowly. */
    @Test
    void shouldRaiseTheAlertForPoolsThatKeepGrowing() throws Exception {
        String series = """
                jvm_thread_count{pid="7",jvm_thread_pool_name="leaked-#",jvm_thread_kind="java"} 10+5x120
                jvm_thread_count{pid="7",jvm_thread_pool_name="exec-#",jvm_thread_kind="java"} 10x5 210x115
                jvm_thread_count{pid="7",jvm_thread_pool_name="slow-#",jvm_thread_kind="java"} 10+1x120""";
        AlertRules.check(new ThreadLeak(), 20, series, "TaskClockThreadLeak", "");
        AlertRules.check(new ThreadLeak(), 110, series, "TaskClockThreadLeak", """
                {pid="7",jvm_thread_pool_name="leaked-#",jvm_thread_kind="java"} orders (pid 7) on host:9464: pool "leaked-#" \
                has grown by 150 threads in 30 minutes""");
    }
}
