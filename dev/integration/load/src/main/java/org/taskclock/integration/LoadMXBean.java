// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.util.Map;

/** The bean of an engine under load, which the soak test reads. */
public interface LoadMXBean {
    String NAME = "org.taskclock.integration:type=Load";

    /** Returns the number of operations completed so far. */
    long getOperations();

    /**
     * Returns the number of failed operations and of answers that differed from an earlier one to the same question.
     */
    long getErrors();

    /** Returns the first error, or an empty string. */
    String getFirstError();

    /** Returns a digest of the answer to each question. */
    Map<String, String> getAnswers();
}
