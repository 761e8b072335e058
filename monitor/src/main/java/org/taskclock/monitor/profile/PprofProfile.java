// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import one.convert.Index;
import one.proto.Proto;

/**
 * Writes a profile in the format of pprof. The field numbers are those of its <a
 * href="https://github.com/google/pprof/blob/main/proto/profile.proto">profile.proto</a>.
 */
public final class PprofProfile {
    private final Profile profile;
    private final Proto out = new Proto(1 << 16);
    private final Index<String> strings = new Index<>(String.class, "");
    /** Each frame is a function and a location with the same id. */
    private final Index<String> frames = new Index<>(String.class, "");

    private PprofProfile(Profile profile) {
        this.profile = profile;
    }

    /** Returns the profile, compressed with gzip. */
    public static byte[] of(Profile profile) {
        PprofProfile pprof = new PprofProfile(profile);
        pprof.write();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(pprof.out.buffer(), 0, pprof.out.size());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private void write() {
        out.field(1, valueType("samples", "count"))
                .field(1, valueType("cpu", "nanoseconds"))
                .field(14, strings.index("cpu"))
                .field(9, profile.startEpochNanos())
                .field(10, profile.intervalNanos())
                .field(11, valueType("cpu", "nanoseconds"))
                .field(12, profile.periodNanos())
                .field(13, strings.index(profile.threads()))
                .field(13, strings.index(profile.source()));
        for (String note : profile.notes()) out.field(13, strings.index(note));
        for (Profile.Stack stack : profile.stacks()) out.field(2, sample(stack));
        out.field(
                3,
                new Proto(32)
                        .field(1, 1)
                        .field(2, 1L)
                        .field(3, Long.MAX_VALUE)
                        .field(5, strings.index(profile.program()))
                        .field(7, 1));
        String[] names = frames.keys();
        for (int id = 1; id < names.length; id++) {
            int name = strings.index(Profile.method(names[id]));
            Proto line = new Proto(8).field(1, id).field(2, Profile.line(names[id]));
            out.field(4, new Proto(16).field(1, id).field(2, 1).field(4, line));
            out.field(5, new Proto(16).field(1, id).field(2, name).field(3, name));
        }
        for (String string : strings.keys()) out.field(6, string);
    }

    private Proto valueType(String type, String unit) {
        return new Proto(8).field(1, strings.index(type)).field(2, strings.index(unit));
    }

    private Proto sample(Profile.Stack stack) {
        Proto sample = new Proto(256);
        List<String> outermostFirst = stack.frames();
        for (int i = outermostFirst.size() - 1; i >= 0; i--) {
            String name = Profile.name(outermostFirst.get(i));
            sample.field(1, frames.index(name.isEmpty() ? Profile.NO_STACK : name));
        }
        sample.field(2, stack.samples()).field(2, stack.cpuNanos());
        label(sample, "thread", stack.thread());
        label(sample, "pool", stack.pool());
        label(sample, "mode", stack.mode());
        if (stack.tid() != 0)
            sample.field(3, new Proto(16).field(1, strings.index("tid")).field(3, stack.tid()));
        return sample;
    }

    private void label(Proto sample, String key, String value) {
        if (value.isEmpty()) return;
        sample.field(3, new Proto(16).field(1, strings.index(key)).field(2, strings.index(value)));
    }
}
