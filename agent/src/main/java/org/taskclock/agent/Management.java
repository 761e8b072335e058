// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/** Registers the bean, and answers for it. */
public final class Management implements TaskClockMXBean {
    // Open types are made from interfaces with getters; a record whose components are called so has them.
    private record Verdict(String getName, boolean isUsable, String getReason) implements RungVerdict {}

    private record Yielded(
            String getName,
            long getTid,
            long getYields,
            long getVirtualYields,
            long getYieldNanos,
            long getYieldSwitches,
            long getUserNanos,
            long getSystemNanos,
            long getVoluntarySwitches,
            long getInvoluntarySwitches)
            implements Yielder {}

    private record Virtual(
            String getName, long getLive, long getEnded, long getCpuNanos, long getUserNanos, long getSystemNanos)
            implements VirtualThreadGroup {}

    private record Carrying(
            long getTid,
            long getCpuNanos,
            long getUserNanos,
            long getSystemNanos,
            long getCarriedNanos,
            long getOwnNanos)
            implements Carrier {}

    private record Site(String getSite, long getYields, List<String> getStack) implements YieldSite {}

    private final Agency agency;
    private final Hooks hooks;
    private boolean offered;

    Management(Agency agency, Hooks hooks) {
        this.agency = agency;
        this.hooks = hooks;
    }

    /**
     * Registers the bean: at once in a program that runs; before it starts, when it first asks for the platform's server, as
     * making that would start the logging that the program may want to set up first.
     */
    void install(Instrumentation jvm, boolean running) throws Refused {
        if (running) {
            register();
            return;
        }
        hooks.call("setBean", this);
        if (offered) return;
        offered = true;
        offer(jvm);
        if (!isLoaded(jvm, "java.lang.management.ManagementFactory$PlatformMBeanFinder")) return;
        // Another agent, or somebody who attached, was first: the platform has looked for its beans and will not look
        // again.
        if (isLoaded(jvm, "com.sun.jmx.mbeanserver.JmxMBeanServer")) register();
        else waitForServer(jvm);
    }

    private void waitForServer(Instrumentation jvm) throws Refused {
        hooks.call("setServerAsked", (Runnable) this::registerLater);
        Rewriting.Change change =
                Rewriting.atReturn("getPlatformMBeanServer", "()Ljavax/management/MBeanServer;", "serverAsked");
        Rewriting rewriting = new Rewriting(jvm, ManagementFactory.class, List.of(change));
        rewriting.apply();
        rewriting.demand(change);
    }

    private static boolean isLoaded(Instrumentation jvm, String name) {
        for (Class<?> type : jvm.getAllLoadedClasses()) if (type.getName().equals(name)) return true;
        return false;
    }

    private void registerLater() {
        hooks.call("setServerAsked", (Object) null);
        try {
            register();
        } catch (Refused e) {
            System.err.println("taskclock: agent: left out: " + e.getMessage());
        }
    }

    private void register() throws Refused {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName(NAME);
            if (!server.isRegistered(name)) server.registerMBean(this, name);
        } catch (JMException | RuntimeException | LinkageError e) {
            throw new Refused("cannot register " + NAME + ": " + e, e);
        }
    }

    private static void offer(Instrumentation jvm) throws Refused {
        try {
            Class<?> neighbour = Class.forName("sun.management.Util", false, null);
            Class<?> service = Class.forName("sun.management.spi.PlatformMBeanProvider", false, null);
            Class<?> provider = Hooks.define(jvm, neighbour, "sun.management.TaskClockBeans");
            for (Method method : provider.getMethods())
                if (Modifier.isAbstract(method.getModifiers()))
                    throw new IllegalStateException("they must know " + method.getName());
            Hooks.provide(jvm, service, provider);
        } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
            throw new Refused("the platform's beans of this JVM are not as known: " + e, e);
        }
    }

    void remove() throws Refused {
        hooks.call("setBean", (Object) null);
        hooks.call("setServerAsked", (Object) null);
        // Where the platform has no server yet, asking for it would make one.
        for (MBeanServer server : MBeanServerFactory.findMBeanServer(null)) {
            try {
                ObjectName name = new ObjectName(NAME);
                if (server.isRegistered(name)) server.unregisterMBean(name);
            } catch (JMException | RuntimeException e) {
                throw new Refused("cannot unregister " + NAME + ": " + e, e);
            }
        }
    }

    // ---- attributes

    @Override
    public String getVersion() {
        return Agency.version();
    }

    @Override
    public String getRung() {
        return agency.rung();
    }

    @Override
    public RungVerdict[] getRungs() {
        return TaskClock.status().rungs().stream()
                .map(v -> new Verdict(v.rung().toString(), v.usable(), v.reason()))
                .toArray(RungVerdict[]::new);
    }

    @Override
    public long getTickNanos() {
        return TaskClock.status().tickNanos();
    }

    @Override
    public String getAccounting() {
        ClockStatus.Accounting accounting = TaskClock.status().accounting();
        return accounting == ClockStatus.Accounting.PRECISE ? "precise" : "tick";
    }

    @Override
    public boolean isEnabled() {
        return agency.isEnabled();
    }

    @Override
    public void setEnabled(boolean enabled) {
        asked(() -> agency.setEnabled(enabled));
    }

    @Override
    public boolean isThreadTimes() {
        return agency.answersThreadTimes();
    }

    @Override
    public void setThreadTimes(boolean fromClock) {
        asked(() -> agency.choose(Options.TIMES, fromClock ? "on" : "off"));
    }

    @Override
    public String getYieldMode() {
        return agency.yields().mode().toString();
    }

    @Override
    public void setYieldMode(String mode) {
        asked(() -> agency.choose(Options.YIELD, mode));
    }

    @Override
    public ThreadTime[] getThreads() {
        return ThreadTable.read();
    }

    @Override
    public Yielder[] getYielders() {
        return agency.yields().yielders().stream()
                .map(y -> new Yielded(
                        y.name(),
                        y.tid(),
                        y.yields(),
                        y.virtualYields(),
                        y.yieldNanos(),
                        y.switches(),
                        y.userNanos(),
                        y.systemNanos(),
                        y.voluntary(),
                        y.involuntary()))
                .toArray(Yielder[]::new);
    }

    @Override
    public YieldSite[] getYieldSites() {
        return agency.yields().counts().sites().stream()
                .map(s -> new Site(s.name(), s.yields(), stack(s)))
                .toArray(YieldSite[]::new);
    }

    private static List<String> stack(YieldCounts.Site site) {
        return site.frames().stream().map(StackTraceElement::toString).collect(Collectors.toList());
    }

    @Override
    public Map<String, Long> getVirtualYielders() {
        return agency.yields().counts().virtualThreads();
    }

    @Override
    public boolean isAccountingVirtualThreads() {
        return agency.accounts().isInstalled();
    }

    @Override
    public void setAccountingVirtualThreads(boolean wanted) {
        asked(() -> agency.choose(Options.ACCOUNTS, wanted ? "on" : "off"));
    }

    @Override
    public VirtualThreadGroup[] getVirtualThreads() {
        return agency.accounts().groups().stream()
                .map(g -> new Virtual(
                        g.name(), g.live(), g.ended(), g.cpuNanos(), g.userNanos(), g.cpuNanos() - g.userNanos()))
                .toArray(VirtualThreadGroup[]::new);
    }

    @Override
    public Carrier[] getCarriers() {
        return agency.accounts().carriers().stream()
                .map(c -> new Carrying(
                        c.tid(),
                        c.cpuNanos(),
                        c.userNanos(),
                        c.cpuNanos() - c.userNanos(),
                        c.carriedNanos(),
                        c.cpuNanos() - c.carriedNanos()))
                .toArray(Carrier[]::new);
    }

    @Override
    public boolean isOverflown() {
        return agency.yields().counts().isOverflown() || agency.accounts().isOverflown();
    }

    @Override
    public void detach() {
        asked(agency::detach);
    }

    /** What a client asked for and could not have is told to it, in a class that it knows. */
    private static void asked(Agency.Step step) {
        try {
            step.run();
        } catch (Refused e) {
            throw new UnsupportedOperationException(e.getMessage());
        }
    }
}
