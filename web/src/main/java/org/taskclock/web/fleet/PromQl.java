// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;

/** Text in PromQL. Names of services and pools come from programs that we do not trust. */
final class PromQl {
    private static final String SPECIAL = "\\.+*?()|[]{}^$";
    private static final int DELETE = 0x7f;

    private PromQl() {}

    /** Returns a string literal. */
    static String string(String text) {
        StringBuilder literal = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') literal.append('\\').append(c);
            else if (c < ' ' || c == DELETE) literal.append(String.format(Locale.ROOT, "\\x%02x", (int) c));
            else literal.append(c);
        }
        return literal.append('"').toString();
    }

    /** Returns a string literal with a regular expression that matches these texts only. */
    static String anyOf(Collection<String> texts) {
        return string(texts.stream().distinct().map(PromQl::quote).collect(Collectors.joining("|")));
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (SPECIAL.indexOf(text.charAt(i)) >= 0) quoted.append('\\');
            quoted.append(text.charAt(i));
        }
        return quoted.toString();
    }
}
