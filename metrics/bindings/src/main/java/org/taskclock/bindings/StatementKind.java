// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

/** What an SQL statement does, by its first keyword. */
enum StatementKind {
    SELECT,
    INSERT,
    UPDATE,
    DELETE,
    OTHER;

    private static final StatementKind[] KEYWORDS = {SELECT, INSERT, UPDATE, DELETE};

    static StatementKind of(String sql) {
        int start = skipToKeyword(sql);
        for (StatementKind kind : KEYWORDS) {
            String keyword = kind.name();
            int end = start + keyword.length();
            boolean isWhole = end >= sql.length() || !Character.isJavaIdentifierPart(sql.charAt(end));
            if (isWhole && sql.regionMatches(true, start, keyword, 0, keyword.length())) return kind;
        }
        return OTHER;
    }

    /** Skips spaces, comments, and parentheses. */
    private static int skipToKeyword(String sql) {
        int at = 0;
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (Character.isWhitespace(c) || c == '(') at++;
            else if (sql.startsWith("--", at)) at = end(sql, "\n", at);
            else if (sql.startsWith("/*", at)) at = end(sql, "*/", at);
            else break;
        }
        return at;
    }

    private static int end(String sql, String delimiter, int from) {
        int found = sql.indexOf(delimiter, from + 2);
        return found < 0 ? sql.length() : found + delimiter.length();
    }

    /** Returns the name in accounts. */
    String label() {
        return this == OTHER ? "other" : name();
    }
}
