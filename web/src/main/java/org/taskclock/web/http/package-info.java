// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Everything between the network and an answer. {@link org.taskclock.web.http.WebServer} is the only server, with TLS
 * from {@link org.taskclock.web.http.WebSecurity}. {@link org.taskclock.web.http.AccessHandler} checks each request,
 * and {@link org.taskclock.web.http.Routes} finds who answers it.
 */
package org.taskclock.web.http;
