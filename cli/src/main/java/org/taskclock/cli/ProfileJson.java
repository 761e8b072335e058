// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.List;
import org.taskclock.monitor.profile.Profile;

/** Formats a profile as one JSON object, which docs/profile.md describes. */
final class ProfileJson {
    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    private ProfileJson() {}

    private record Method(String method, long selfNanos, long totalNanos, double selfPercent, double totalPercent) {}

    private record Stack(
            String pool, String thread, Integer tid, String mode, List<String> frames, long samples, long cpuNanos) {
        /** What is unknown is left out. */
        static Stack of(Profile.Stack stack) {
            return new Stack(
                    stack.pool(),
                    stack.thread(),
                    stack.tid() == 0 ? null : stack.tid(),
                    stack.mode().isEmpty() ? null : stack.mode(),
                    stack.frames().stream().map(Profile::name).toList(),
                    stack.samples(),
                    stack.cpuNanos());
        }
    }

    private record Json(
            long pid,
            String name,
            String threads,
            String end,
            long intervalNanos,
            long cpuNanos,
            long userNanos,
            long systemNanos,
            String source,
            long periodNanos,
            long samples,
            long sampledNanos,
            double coveredPercent,
            List<String> notes,
            List<Method> methods,
            List<SystemCall> systemCalls,
            List<Stack> stacks) {}

    private record SystemCall(String name, long cpuNanos, double percent) {}

    static String of(Profile profile) {
        List<Method> methods = profile.methods().stream()
                .map(m -> new Method(
                        m.name(),
                        m.selfNanos(),
                        m.totalNanos(),
                        profile.percent(m.selfNanos()),
                        profile.percent(m.totalNanos())))
                .toList();
        List<Stack> stacks = profile.stacks().stream().map(Stack::of).toList();
        return GSON.toJson(new Json(
                        profile.pid(),
                        profile.program(),
                        profile.threads(),
                        profile.end().toString(),
                        profile.intervalNanos(),
                        profile.cpuNanos(),
                        profile.userNanos(),
                        profile.cpuNanos() - profile.userNanos(),
                        profile.source(),
                        profile.periodNanos(),
                        profile.samples(),
                        profile.sampledNanos(),
                        profile.coveredPercent(),
                        profile.notes(),
                        methods,
                        profile.systemCalls().stream()
                                .map(call -> new SystemCall(
                                        call.name(), call.totalNanos(), profile.percent(call.totalNanos())))
                                .toList(),
                        stacks))
                + "\n";
    }
}
