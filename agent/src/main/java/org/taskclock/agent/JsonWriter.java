// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.function.Consumer;

/** Builds a JSON object. The agent uses no JSON library, because the program may have one. */
final class JsonWriter {
    private final StringBuilder text = new StringBuilder("{");

    /** Closes the object and returns its text. */
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

    /** Appends an array. {@code write} appends each element. */
    <T> void list(String name, Iterable<T> elements, Consumer<T> write) {
        key(name).append('[');
        for (T element : elements) {
            separate();
            write.accept(element);
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

    void value(long value) {
        text.append(value);
    }

    void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') text.append('\\').append(c);
            // Surrogates are escaped too: an unpaired one has no UTF-8 encoding.
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
