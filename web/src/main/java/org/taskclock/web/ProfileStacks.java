// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.history.HistoryProfile;
import org.taskclock.monitor.profile.Profile;

/** Converts the stacks of profiles for the history, such that those that wait there take little memory. */
final class ProfileStacks {
    /** The history keeps fewer of a minute. */
    private static final int MAX_STACKS = 500;

    private static final String KERNEL = "_[k]";

    private ProfileStacks() {}

    static List<HistoryProfile.Stack> of(Profile profile) {
        Map<String, String> names = new HashMap<>();
        List<HistoryProfile.Stack> stacks = new ArrayList<>();
        for (Profile.Stack stack : profile.stacks()) {
            String group = stack.virtualGroup();
            stacks.add(new HistoryProfile.Stack(
                    group == null ? stack.pool() : group,
                    group != null,
                    stacks.size() < MAX_STACKS ? frames(stack, names) : List.of(HistoryProfile.OTHER),
                    stack.samples(),
                    stack.cpuNanos()));
        }
        return stacks;
    }

    /** Returns the frames without the suffix for their type, except for the kernel: it changes as code is compiled. */
    private static List<String> frames(Profile.Stack stack, Map<String, String> names) {
        return stack.frames().stream()
                .map(frame -> names.computeIfAbsent(frame, name -> name.endsWith(KERNEL) ? name : Profile.name(name)))
                .toList();
    }
}
