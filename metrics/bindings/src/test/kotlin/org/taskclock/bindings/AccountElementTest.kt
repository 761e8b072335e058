// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings

import java.util.concurrent.Executors
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.taskclock.CpuAccount

class AccountElementTest {
    private val account = CpuAccount.create()
    private val other = CpuAccount.create()
    private val work = CountedWork()
    private val otherWork = CountedWork()

    // example: kotlin
    private suspend fun handle(account: CpuAccount, orders: List<String>): Int =
        withContext(AccountElement(account) + Dispatchers.Default) {
            orders.map { async { price(it) } }.awaitAll().sum() // on any number of threads
        }
    // end

    private suspend fun price(order: String): Int {
        work.run()
        delay(2.milliseconds)
        withContext(Dispatchers.IO) { work.run() }
        return work.run(order.length)
    }

    private fun run(block: suspend CoroutineScope.() -> Unit) {
        runBlocking { withTimeout(1.minutes) { block() } }
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY)
    }

    @Test
    fun shouldCountAllHops() {
        run {
            assertThat(handle(account, List(8) { "order" })).isEqualTo(40)
            otherWork.repeat(30)
        }
        assertThat(work.portions()).isEqualTo(24)
        assertThat(work.threads()).hasSizeGreaterThan(1).doesNotContain(Thread.currentThread())
        work.assertCounted(account)
    }

    @Test
    fun shouldSeparateCoroutinesOnTheSameThreads() {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { single ->
            run {
                val jobs = List(20) { i ->
                    launch(single + AccountElement(if (i % 4 == 0) account else other)) {
                        repeat(2) {
                            (if (i % 4 == 0) work else otherWork).run()
                            yield()
                        }
                    }
                }
                jobs.joinAll()
            }
        }
        assertThat(listOf(work.portions(), otherWork.portions())).containsExactly(10L, 30L)
        work.assertCounted(account)
        otherWork.assertCounted(other)
    }

    @Test
    fun shouldCountNestedAccountsForBoth() {
        run {
            withContext(AccountElement(other) + Dispatchers.Default) {
                otherWork.repeat(10)
                withContext(AccountElement(account)) {
                    work.run()
                    delay(2.milliseconds)
                    work.run()
                    launch(Dispatchers.IO) { work.run() }
                    assertThat(coroutineContext[AccountElement.KEY]!!.accounts().contains(other)).isTrue()
                }
                otherWork.repeat(10)
                delay(2.milliseconds)
                otherWork.repeat(10)
            }
        }
        assertThat(work.portions()).isEqualTo(3)
        work.assertCounted(account)
        otherWork.run(0)
        otherWork.assertCounted(other, work)
    }

    /** Resuming an unconfined coroutine runs it within the work of another account. */
    @Test
    fun shouldCountUnconfinedWorkOnlyForItsOwnAccount() {
        run {
            val signal = CompletableDeferred<Unit>()
            val waiting = launch(Dispatchers.Unconfined + AccountElement(account)) {
                work.run()
                signal.await()
                work.repeat(20)
            }
            withContext(Dispatchers.Default + AccountElement(other)) {
                otherWork.run()
                signal.complete(Unit)
                otherWork.run()
            }
            waiting.join()
        }
        assertThat(work.threads()).hasSize(2)
        work.assertCounted(account)
        otherWork.assertCounted(other)
    }

    @Test
    fun shouldCountFlows() {
        run {
            withContext(AccountElement(account)) {
                val numbers = flow { repeat(5) { emit(work.run(it)) } }.flowOn(Dispatchers.Default)
                assertThat(numbers.map { work.run(it) }.toList()).hasSize(5)
            }
        }
        assertThat(work.portions()).isEqualTo(10)
        work.assertCounted(account)
    }

    @Test
    fun shouldLeaveNoSectionOpenAfterExceptions() {
        assertThatThrownBy {
            run {
                withContext(AccountElement(account) + Dispatchers.Default) {
                    coroutineScope {
                        launch { delay(1.minutes) }
                        launch {
                            work.run()
                            delay(1.milliseconds)
                            work.run()
                            throw IllegalArgumentException("bad order")
                        }
                    }
                }
            }
        }.hasMessage("bad order")
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY)
        work.assertCounted(account)
    }

    @Test
    fun shouldLeaveNoSectionOpenAfterCancellation() {
        run {
            val jobs: List<Job> = List(4) {
                launch(Dispatchers.Default + AccountElement(account)) {
                    try {
                        while (true) {
                            work.run()
                            delay(1.milliseconds)
                        }
                    } finally {
                        work.run()
                    }
                }
            }
            CountedWork.await({ work.portions() >= 8 }, "the work has not started")
            jobs.forEach { it.cancelAndJoin() }
        }
        work.assertCounted(account)
    }

    @Test
    fun shouldReportALimitWhileCoroutinesHop() {
        run {
            val job = launch(Dispatchers.Default, start = kotlinx.coroutines.CoroutineStart.LAZY) {
                withContext(AccountElement(account)) {
                    while (true) {
                        work.run()
                        delay(1.milliseconds)
                    }
                }
            }
            account.limit(50_000_000) { job.cancel() }
            job.join()
            assertThat(job.isCancelled).isTrue()
        }
        assertThat(work.nanos()).isBetween(30_000_000, 400_000_000)
        work.assertCounted(account)
    }
}
