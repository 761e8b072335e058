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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The numbers that stand for stacks in the rows. Equal stacks, also of different JVMs, are stored once. */
final class StackKeys {
    /** Those that were not used for the longest time are forgotten. Each takes about 100 bytes here. */
    static final int MAX_STACKS = 50_000;

    /** How many new stacks of a JVM are stored at first, and then in each minute. A stack takes about 100 bytes. */
    static final int MAX_NEW = 500;

    static final int NEW_PER_MINUTE = 4;

    /** Further frames of a stack, the outermost, are omitted. */
    static final int MAX_FRAMES = 200;

    private static final List<String> REST = List.of(HistoryProfile.OTHER);

    private record NewStack(int stack, long hash, List<String> frames) {}

    /** By a part of a SHA-256 hash. Collisions of 64 bits are not expected. */
    private final Map<Long, Integer> numbers = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Integer> eldest) {
            return size() > MAX_STACKS;
        }
    };

    /** How many new stacks of a JVM may still be stored. */
    private final Map<Integer, Integer> room = new HashMap<>();

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
                "SELECT stack, hash FROM stack_key ORDER BY stack");
    }

    /** Makes room for new stacks of a JVM in the next minutes. */
    void makeRoom(int jvm, int minutes) {
        room.compute(jvm, (key, left) -> left == null ? MAX_NEW : Math.min(MAX_NEW, left + minutes * NEW_PER_MINUTE));
    }

    /** Returns the number of a stack, or if there is no room for it, of the one that stands for its method. */
    int number(int jvm, List<String> frames) {
        List<String> kept = limited(frames);
        long hash = hash(kept);
        Integer known = numbers.get(hash);
        if (known != null) return known;
        if (kept.size() > 2) {
            int left = room.getOrDefault(jvm, 0);
            if (left == 0) return number(jvm, ProfileRows.method(kept));
            room.put(jvm, left - 1);
        }
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
