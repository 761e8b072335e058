// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

/** A text that allows only a limited number of reads, to stop regular expressions that take too long. */
final class BoundedText implements CharSequence {
    /** The limit. A pattern without backtracking reads each character about once, and no command line is this long. */
    private static final int MAX_READS = 20_000_000;

    static final class ExhaustedException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private final String text;
    private int reads;

    BoundedText(String text) {
        this.text = text;
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public char charAt(int index) {
        if (++reads > MAX_READS) throw new ExhaustedException();
        return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.subSequence(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}
