// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Sends findings to receivers of webhooks, when they begin and when they end. */
package org.taskclock.web.webhook;
