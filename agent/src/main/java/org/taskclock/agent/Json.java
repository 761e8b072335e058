// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.function.Consumer;

/** Text as JSON. There is no library for that here, as the program may have one. */
final class Json {
    private final StringBuilder text = new StringBuilder("{");

    String end() {
        return text.append('}').toString();
    }

    void member(String name, long value) {
        key(name).append(value);
    }

    void member(String name, boolean value) {
        key(name).append(value);
    }

    void member(String name, String value) {
        key(name);
        quote(value);
    }

    /** An array of objects, or of whatever else is written for each. */
    <T> void list(String name, Iterable<T> of, Consumer<T> write) {
        key(name).append('[');
        for (T each : of) {
            separate();
            write.accept(each);
        }
        text.append(']');
    }

    void object(String name, Runnable members) {
        key(name);
        object(members);
    }

    void object(Runnable members) {
        text.append('{');
        members.run();
        text.append('}');
    }

    void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') text.append('\\').append(c);
            // Surrogates too: one alone would be no UTF-8.
            else if (c >= ' ' && c < 0xd800) text.append(c);
            else text.append("\\u").append(Integer.toHexString(0x10000 | c), 1, 5);
        }
        text.append('"');
    }

    private StringBuilder key(String name) {
        separate();
        return text.append('"').append(name).append("\":");
    }

    private void separate() {
        char last = text.charAt(text.length() - 1);
        if (last != '{' && last != '[') text.append(',');
    }
}
