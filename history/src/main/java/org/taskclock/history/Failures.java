// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Locale;

/** Interprets the messages of exceptions, because DuckDB has no error codes. */
final class Failures {
    private static final List<String> FULL = List.of("no space left", "disk quota", "disk full", "enospc");

    private static final List<String> ACCESS =
            List.of("permission denied", "read-only file system", "too many open files", "input/output error");

    private static final List<String> DAMAGE = List.of(
            "corrupt",
            "checksum",
            "not a valid duckdb database",
            "internal error",
            "serialization error",
            "failed to deserialize",
            "failure while replaying wal",
            "could not read enough bytes",
            "magic bytes");

    private Failures() {}

    /** Returns the cause in one line. */
    static String describe(Throwable e) {
        String message = String.valueOf(e.getMessage()).strip();
        if (e instanceof AccessDeniedException) return "permission denied";
        if (e instanceof FileSystemException file && file.getReason() != null) return file.getReason();
        int end = message.indexOf('\n');
        if (end >= 0) message = message.substring(0, end);
        return isFull(e) ? "disk full: " + message : message;
    }

    static boolean isFull(Throwable e) {
        return contains(e, FULL);
    }

    /** Returns whether another process has the file open. */
    static boolean isLocked(Throwable e) {
        return contains(e, List.of("could not set lock"));
    }

    /** Returns whether a newer version of DuckDB wrote the file. */
    static boolean isNewer(Throwable e) {
        return contains(e, List.of("storage version", "wal of version", "newer version of duckdb"));
    }

    /** Returns whether the file has unexpected tables. */
    static boolean isSchema(Throwable e) {
        return contains(e, List.of("catalog error", "binder error"));
    }

    /** Returns whether the content of the file is damaged rather than inaccessible. */
    static boolean isDamage(Throwable e) {
        return !isNewer(e) && !isFull(e) && !isLocked(e) && !contains(e, ACCESS) && contains(e, DAMAGE);
    }

    /** Returns whether the file is damaged although it could be opened. */
    static boolean isDamageOfContent(Throwable e) {
        return contains(e, List.of("corrupt", "checksum", "failed to deserialize", "serialization error"));
    }

    private static boolean contains(Throwable e, List<String> texts) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return texts.stream().anyMatch(message::contains);
    }
}
