// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The command line of TaskClock. {@link org.taskclock.cli.Main} dispatches to the commands, one class each;
 * {@code bench} and {@code experiment} start the lab's jar. {@link org.taskclock.cli.TerminalUi} is the terminal
 * interface of {@code top} and {@code replay}.
 */
package org.taskclock.cli;
