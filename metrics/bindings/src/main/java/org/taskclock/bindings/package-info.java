// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Enters named CPU accounts for requests, calls, records, statements, and jobs. Carries accounts from thread to thread
 * in Kotlin coroutines, Reactor, and Mutiny, and into logs.
 *
 * <p>Reasons for the design:
 *
 * <ol>
 *   <li>All libraries share one module, whose dependencies are optional: each class loads only with its own library.
 *   <li>All set one current context per thread, {@link org.taskclock.bindings.AccountContext}, instead of opening
 *       sections themselves. Setting it twice is harmless, as the libraries require, and logs can find the account.
 *   <li>Setting replaces the context, so that a thread that runs work of one request within another's never counts it
 *       for both. Accounts nest within the context instead.
 *   <li>In Reactor, a hook for schedulers alone would pass on the context of whichever thread schedules. Automatic
 *       context propagation uses the subscriber's context and enters it per task rather than per operator.
 *   <li>The handlers for Micrometer's observations and OpenTelemetry's spans are in the modules for these libraries,
 *       because scopes of observations and spans already exist on each thread and need no further propagation.
 *   <li>Routers of web frameworks only name the endpoint, and {@link org.taskclock.bindings.AccountFilter} ends its
 *       section. So no section stays open, whatever the framework does with an asynchronous or failed request.
 *   <li>Kafka's interceptors and JAX-RS's response filters are not used, because they do not surround the work on its
 *       thread.
 * </ol>
 */
package org.taskclock.bindings;
