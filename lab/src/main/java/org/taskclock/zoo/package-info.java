// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Programs that work normally for some seconds and then misbehave, each with a known cause in a known thread. The
 * experiment {@code zoo} compares what tools say about them with what is known.
 */
package org.taskclock.zoo;
