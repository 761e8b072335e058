// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.taskclock.PoolName;
import org.taskclock.metrics.ProcText;
import org.taskclock.metrics.ThreadNames;

/** Texts of {@code /proc}: numbers, control groups, command lines, and names of threads. */
public final class ProcTextFuzz {
    private static final byte[] KEY = ProcText.key("NSpid");

    private ProcTextFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        ProcText.number(ByteBuffer.wrap(data));
        ProcText.field(data, data.length, KEY);
        ProcText.lastInLine(data, data.length, KEY);
        String text = new String(data, StandardCharsets.UTF_8);
        String name = ModifiedUtf8.threadName(text, data, data.length);
        byte[] stat = stat(data);
        if (ModifiedUtf8.threadName("\ufffd", stat, stat.length).endsWith("\ufffd"))
            throw new AssertionError("a part of a character remains");
        ModifiedUtf8.decode(data);
        for (ThreadNames.Owner owner : ThreadNames.Owner.values()) ThreadNames.kind(name, owner);
        ThreadNames.isCarrier(name);
        if (PoolName.of(name).length() > PoolName.of("x".repeat(10_000)).length())
            throw new AssertionError("the name of the pool is too long");
        List<String> lines = text.lines().toList();
        ContainerId.in(lines);
        ContainerIdentity.in(lines);
        JvmProcesses.nameIn(List.of(text.split("\0", -1)));
    }

    /** Returns the text of a stat file with this name. */
    private static byte[] stat(byte[] name) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes("7 (".getBytes(StandardCharsets.US_ASCII));
        text.writeBytes(name);
        text.writeBytes(") R 1".getBytes(StandardCharsets.US_ASCII));
        return text.toByteArray();
    }
}
