// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import one.convert.Index;
import one.proto.Proto;

/**
 * Writes a profile in the format of OpenTelemetry's profiles. The field numbers are those of profiles.proto in
 * v1development, version 1.10 and later of OpenTelemetry's protocol, which is still allowed to change.
 */
public final class OtlpProfile {
    /** The version of v1development, which receivers check. */
    public static final String DEVELOPMENT_VERSION = "1";

    /** The path at a receiver. */
    public static final String PATH = "/v1development/profiles";

    /** An attribute of a sample or a location. Its value is a string or a number. */
    private record Attribute(String key, Object value) {
        static final Attribute NONE = new Attribute("", "");

        Proto any() {
            return value instanceof Integer number
                    ? new Proto(16).field(3, number)
                    : new Proto(64).field(1, (String) value);
        }
    }

    private final Profile profile;
    // In each table, the first element stands for none.
    private final Index<String> strings = new Index<>(String.class, "");
    private final Index<String> frames = new Index<>(String.class, "");
    private final Index<Attribute> attributes = new Index<>(Attribute.class, Attribute.NONE);
    /** The indexes of frames, innermost first. */
    @SuppressWarnings("rawtypes")
    private final Index<List> stacks = new Index<>(List.class, List.of());

    private OtlpProfile(Profile profile) {
        this.profile = profile;
    }

    /** Returns an ExportProfilesServiceRequest. */
    public static byte[] of(Profile profile) {
        Proto request = new OtlpProfile(profile).request();
        return Arrays.copyOf(request.buffer(), request.size());
    }

    private Proto request() {
        Proto resource = new Proto(256);
        for (Attribute attribute : List.of(
                new Attribute("service.name", profile.program()), new Attribute("process.pid", (int) profile.pid())))
            resource.field(1, new Proto(64).field(1, attribute.key).field(2, attribute.any()));
        Proto scope = new Proto(1 << 16)
                .field(1, new Proto(16).field(1, "org.taskclock"))
                .field(2, profile("cpu", "nanoseconds", true))
                .field(2, profile("samples", "count", false));
        Proto resourceProfiles =
                new Proto(scope.size() + 256).field(1, resource).field(2, scope);
        return new Proto(2 * scope.size()).field(1, resourceProfiles).field(2, dictionary());
    }

    private Proto profile(String type, String unit, boolean isTime) {
        Proto proto = new Proto(1 << 16)
                .field(1, valueType(type, unit))
                .fieldFixed64(3, profile.startEpochNanos())
                .field(4, profile.intervalNanos())
                .field(5, valueType("cpu", "nanoseconds"))
                .field(6, profile.periodNanos());
        for (Profile.Stack stack : profile.stacks()) {
            Proto sample = new Proto(64).field(1, stackIndex(stack));
            attribute(sample, "thread.name", stack.thread());
            if (stack.tid() != 0) sample.field(2, attributes.index(new Attribute("thread.id", stack.tid())));
            attribute(sample, "taskclock.pool.name", stack.pool());
            attribute(sample, "cpu.mode", stack.mode().equals(Profile.KERNEL) ? "system" : stack.mode());
            proto.field(2, sample.field(4, isTime ? stack.cpuNanos() : stack.samples()));
        }
        return proto;
    }

    private Proto valueType(String type, String unit) {
        return new Proto(8).field(1, strings.index(type)).field(2, strings.index(unit));
    }

    private void attribute(Proto sample, String key, String value) {
        if (!value.isEmpty()) sample.field(2, attributes.index(new Attribute(key, value)));
    }

    private int stackIndex(Profile.Stack stack) {
        List<String> outermostFirst = stack.frames();
        int last = outermostFirst.size() - 1;
        return stacks.index(IntStream.rangeClosed(0, last)
                .mapToObj(i -> frames.index(outermostFirst.get(last - i)))
                .toList());
    }

    private Proto dictionary() {
        Proto none = new Proto(1);
        Proto dictionary = new Proto(1 << 16)
                .field(1, none) // mappings
                .field(2, none)
                .field(3, none)
                .field(4, none); // links
        String[] names = frames.keys();
        for (int i = 1; i < names.length; i++) {
            // A frame is a location and a function.
            int type = attributes.index(new Attribute("profile.frame.type", frameType(names[i])));
            String name = Profile.name(names[i]);
            Proto line = new Proto(8).field(1, i).field(2, Profile.line(name));
            dictionary
                    .field(2, new Proto(16).field(3, line).field(4, type))
                    .field(3, new Proto(8).field(1, strings.index(Profile.method(name))));
        }
        for (List<?> stack : stacks.keys()) {
            Proto locations = new Proto(64);
            for (Object frame : stack) locations.field(1, (int) (Integer) frame);
            dictionary.field(7, locations);
        }
        dictionary.field(6, none);
        Attribute[] all = attributes.keys();
        for (int i = 1; i < all.length; i++)
            dictionary.field(
                    6, new Proto(64).field(1, strings.index(all[i].key)).field(2, all[i].any()));
        for (String string : strings.keys()) dictionary.field(5, string);
        return dictionary;
    }

    /** Returns the type of a frame, as in OpenTelemetry's conventions. */
    private static String frameType(String frame) {
        if (frame.endsWith(Profile.KERNEL_SUFFIX)) return "kernel";
        return frame.equals(Profile.name(frame)) ? "native" : "jvm";
    }
}
