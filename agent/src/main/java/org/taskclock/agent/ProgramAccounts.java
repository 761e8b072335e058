// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.taskclock.CpuAccounts;
import org.taskclock.internal.JdkVersions;

/**
 * The accounts that the agent finds in an unchanged program. Those of endpoints and topics need changes to classes of
 * the program, now and when it loads more of them. So a transformer is registered while such accounts are on.
 */
final class ProgramAccounts implements ClassFileTransformer {
    static final String GROUP = "group";

    private final Instrumentation instrumentation;
    private final TaskClockHooks hooks;
    private final VirtualAccounts virtual;
    private final Watchdog watchdog;
    private final AgentController controller;

    /** The points that are on, by the internal name of their class. */
    private volatile Map<String, List<AccountPoint>> points = Map.of();

    /** By internal name of the class, or type, why it could not be changed. */
    private final Map<String, String> refused = new TreeMap<>();

    private boolean isDefined;
    /** The types that are on. */
    private Set<String> types = Set.of();
    /** Null while the type is off. */
    private GroupAccounts groups;

    ProgramAccounts(
            Instrumentation instrumentation,
            TaskClockHooks hooks,
            VirtualAccounts virtual,
            Watchdog watchdog,
            AgentController controller) {
        this.instrumentation = instrumentation;
        this.hooks = hooks;
        this.virtual = virtual;
        this.watchdog = watchdog;
        this.controller = controller;
    }

    /** Returns the value of the option. */
    String state() {
        return types.isEmpty() ? "off" : String.join("+", types);
    }

    /** Sets which accounts to find. Those that cannot be found are in the exception; the others are on. */
    void set(String value) throws FeatureException {
        Set<String> wanted = new TreeSet<>(List.of(value.split("\\+", -1)));
        wanted.remove("off");
        boolean wantsGroups = wanted.remove(GROUP);
        boolean hasGroups = wantsGroups && virtual.isInstalled();
        synchronized (refused) {
            refused.remove(GROUP);
        }
        setPoints(wanted);
        setGroups(hasGroups);
        if (hasGroups) wanted.add(GROUP);
        types = wanted;
        String reasons;
        synchronized (refused) {
            if (wantsGroups && !hasGroups)
                refused.put(
                        GROUP, GROUP + " requires vthreads=on, and JDK " + JdkVersions.VIRTUAL_THREADS + " or later");
            reasons = String.join("; ", refused.values());
        }
        if (!reasons.isEmpty()) throw new FeatureException(reasons);
    }

    private void setGroups(boolean on) {
        if (on == (groups != null)) return;
        if (on) {
            groups = new GroupAccounts(virtual);
            watchdog.watch(groups);
        } else {
            groups.stop();
            groups = null;
        }
    }

    private void setPoints(Set<String> wanted) throws FeatureException {
        Map<String, List<AccountPoint>> before = points;
        Map<String, List<AccountPoint>> after = new HashMap<>();
        BiFunction<?, ?, ?>[] openers = new BiFunction<?, ?, ?>[AccountPoint.ALL.size()];
        for (AccountPoint point : AccountPoint.ALL) {
            if (!wanted.contains(point.type())) continue;
            CpuAccounts.type(point.type()); // fails now, if at all
            openers[point.number()] = point;
            after.computeIfAbsent(point.owner(), owner -> new ArrayList<>()).add(point);
        }
        if (!isDefined && after.isEmpty()) return;
        define();
        hooks.setSectionOpeners(openers);
        points = after;
        if (before.isEmpty() && !after.isEmpty()) instrumentation.addTransformer(this, true);
        if (after.isEmpty()) instrumentation.removeTransformer(this);
        synchronized (refused) {
            refused.keySet().retainAll(after.keySet());
        }
        Set<String> changed = new HashSet<>(before.keySet());
        changed.addAll(after.keySet());
        changed.removeIf(name -> before.containsKey(name) && after.containsKey(name));
        retransform(changed);
    }

    private void define() throws FeatureException {
        if (isDefined) return;
        try {
            Hooks.defineClass(instrumentation, Thread.class, "java.lang.TaskClockSections");
            isDefined = true;
        } catch (IllegalAccessException | IOException | LinkageError e) {
            throw new FeatureException("cannot define the sections in java.lang: " + e, e);
        }
    }

    /** Changes the classes that the program has already loaded, or restores them. */
    private void retransform(Set<String> names) {
        for (Class<?> type : instrumentation.getAllLoadedClasses()) {
            String name = type.getName().replace('.', '/');
            if (!names.contains(name)) continue;
            try {
                instrumentation.retransformClasses(type);
            } catch (Exception | LinkageError | InternalError e) {
                String verb = points.containsKey(name) ? "change " : "restore ";
                refuse(name, "cannot " + verb + type.getName() + ": " + e);
            }
        }
    }

    /** Called on a thread of the program, which may hold any locks, for each class that it loads. */
    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        List<AccountPoint> wanted = name == null ? null : points.get(name);
        if (wanted == null) return null;
        try {
            return SectionPatch.apply(bytes, wanted);
        } catch (FeatureException e) {
            refuse(name, e.getMessage());
        } catch (RuntimeException | Error e) {
            refuse(name, "cannot change " + name.replace('/', '.') + ": " + e);
        }
        if (redefined == null) watchdog.submit(this::report);
        return null;
    }

    private void refuse(String name, String reason) {
        synchronized (refused) {
            refused.put(name, reason);
        }
    }

    private void report() {
        String reasons;
        synchronized (refused) {
            if (refused.isEmpty()) return;
            reasons = String.join("; ", refused.values());
        }
        controller.reportUnavailable(Options.ACCOUNTS, reasons);
    }
}
