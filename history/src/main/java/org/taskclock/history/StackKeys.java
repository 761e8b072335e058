// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The numbers that stand for stacks in the rows. Equal stacks, also of different JVMs, are stored once. */
final class StackKeys {
    /** Further stacks are combined. Each takes about 60 bytes here. */
    static final int MAX_STACKS = 100_000;

    /** Further frames of a stack, the outermost, are omitted. */
    static final int MAX_FRAMES = 200;

    private static final List<String> REST = List.of(HistoryProfile.OTHER);

    private record NewStack(int stack, long hash, List<String> frames) {}

    /** By a part of a SHA-256 hash. Collisions of 64 bits are not expected. */
    private final Map<Long, Integer> numbers = new HashMap<>();

    private int last;
    private final List<NewStack> added = new ArrayList<>();
    private final MessageDigest digest;

    StackKeys(Connection connection) throws SQLException {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
        restore(connection);
    }

    /** Continues with the stacks in the file. */
    private void restore(Connection connection) throws SQLException {
        numbers.clear();
        Sql.query(
                connection,
                row -> {
                    numbers.put(row.getLong(2), row.getInt(1));
                    last = Math.max(last, row.getInt(1));
                },
                "SELECT stack, hash FROM stack_key");
    }

    /** Returns the number of a stack. */
    int number(List<String> frames) {
        List<String> kept = limited(frames);
        long hash = hash(kept);
        Integer known = numbers.get(hash);
        if (known != null) return known;
        if (numbers.size() >= MAX_STACKS && !kept.equals(REST)) return number(REST);
        numbers.put(hash, ++last);
        added.add(new NewStack(last, hash, kept));
        return last;
    }

    private static List<String> limited(List<String> frames) {
        int omitted = Math.max(0, frames.size() - MAX_FRAMES);
        List<String> kept = new ArrayList<>(omitted == 0 ? List.of() : REST);
        for (String frame : frames.subList(omitted, frames.size())) kept.add(SeriesKeys.cut(frame.replace('\n', ' ')));
        return kept;
    }

    private long hash(List<String> frames) {
        digest.reset();
        for (String frame : frames) {
            digest.update(frame.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) '\n');
        }
        return ByteBuffer.wrap(digest.digest()).getLong();
    }

    /** Appends the stacks that have not been written yet. */
    void append(RowAppender appender) throws SQLException {
        appender.append("stack_key", added, (row, stack) -> row.append(stack.stack)
                .append(stack.hash)
                .append(stack.frames));
        added.clear();
    }

    /** Deletes the stacks that no row needs. */
    void deleteUnused(Connection connection) throws SQLException {
        Sql.execute(connection, "DELETE FROM stack_key WHERE stack NOT IN (SELECT stack FROM profile_60)");
        restore(connection);
    }
}
