// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.util.List;

/** Receives the result of a query. */
public interface RowConsumer {
    /** Called once, before the rows. */
    void columns(List<String> names) throws IOException;

    /** Called for each row. A value is null, a Boolean, a Number, or a String. */
    void row(List<Object> values) throws IOException;
}
