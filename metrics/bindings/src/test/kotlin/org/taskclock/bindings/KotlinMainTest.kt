// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings

import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.taskclock.CpuAccount

/** Without a dispatcher, coroutines restore each thread context element twice. */
class KotlinMainTest {
    @Test
    fun shouldTolerateRestoringTwice() {
        val account = CpuAccount.create()
        val work = CountedWork()
        val result = CompletableFuture<Int>()
        val main: suspend () -> Int = { withContext(AccountElement(account)) { work.run(42) } }
        main.startCoroutine(Continuation(EmptyCoroutineContext) { result.complete(it.getOrThrow()) })
        assertThat(result.get(1, TimeUnit.MINUTES)).isEqualTo(42)
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY)
        work.assertCounted(account)
    }
}
