// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/** Registers the bean, and answers for it. */
public final class Management implements TaskClockMXBean, Watchdog.Check, Supplier<DynamicMBean> {
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

    private record State(String getName, String getState, String getProblem) implements Part {}

    private record Site(String getSite, long getYields, List<String> getStack) implements YieldSite {}

    private static final int LOOKS_AFTER_OFFERING = 3;
    private static final String FACTORY = "java.lang.management.ManagementFactory";

    private final Agency agency;
    private final Hooks hooks;
    private final Watchdog watchdog;
    /** Null until the bean is wanted. */
    private Class<?> beanType;

    /** Makes beans of that type. */
    private BiFunction<Supplier<DynamicMBean>, Boolean, Object> factory;

    /** What is registered, a TaskClockBean; null while none is to be. */
    private volatile Object bean;

    private boolean isReadOnly;
    private boolean isOffered;
    /** Looks for the platform's beans once, when it is initialized. Null before ours was offered. */
    private Class<?> finder;

    private int looks;

    Management(Agency agency, Hooks hooks, Watchdog watchdog) {
        this.agency = agency;
        this.hooks = hooks;
        this.watchdog = watchdog;
    }

    /**
     * Registers the bean: at once where the platform's MBean server exists, otherwise when the program first asks for it. Making
     * the server would start the logging that the program may want to set up first, and takes 0.2 s of CPU time.
     */
    void install(Instrumentation jvm, boolean readOnly) throws Refused {
        if (bean != null && readOnly == isReadOnly) return;
        remove();
        try {
            define(jvm);
            bean = factory.apply(this, readOnly);
            isReadOnly = readOnly;
            if (!registerIfServed()) offer(jvm);
        } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
            bean = null;
            throw new Refused("the platform's beans of this JVM are not as expected: " + e, e);
        } catch (VirtualMachineError e) {
            bean = null; // so that another attempt begins anew
            throw e;
        }
    }

    /** The bean itself, for its first client. */
    @Override
    public DynamicMBean get() {
        return new StandardMBean(this, TaskClockMXBean.class, true);
    }

    @SuppressWarnings("unchecked") // as the class is declared
    private void define(Instrumentation jvm) throws ReflectiveOperationException, IOException {
        if (beanType != null) return;
        Class<?> neighbour = Class.forName("sun.management.Util", false, null);
        beanType = Hooks.define(jvm, neighbour, "sun.management.TaskClockBean");
        factory = (BiFunction<Supplier<DynamicMBean>, Boolean, Object>) Hooks.instance(beanType, "taskclock.bean");
    }

    /** Returns whether there is a server. */
    private boolean registerIfServed() throws Refused {
        try {
            Class<?> factory = Class.forName(FACTORY, false, null);
            // As ManagementFactory itself does while it makes the server and registers the platform's beans.
            synchronized (factory) {
                MBeanServer server = (MBeanServer) hooks.call("staticField", factory, "platformMBeanServer");
                if (server == null) return false;
                ObjectName name = new ObjectName(NAME);
                Object ours = bean;
                if (ours != null && !server.isRegistered(name)) server.registerMBean(ours, name);
                // It may have been removed meanwhile.
                if (ours != null && bean != ours) server.unregisterMBean(name);
                return true;
            }
        } catch (ClassNotFoundException | JMException | RuntimeException | LinkageError e) {
            throw new Refused("cannot register " + NAME + ": " + e, e);
        }
    }

    /** Adds it to what the platform registers when it makes its server. */
    private void offer(Instrumentation jvm) throws ReflectiveOperationException, IOException {
        hooks.call("setBean", bean);
        if (!isOffered) provide(jvm);
        isOffered = true;
        looks = 0;
        watchdog.watch(this);
    }

    private void provide(Instrumentation jvm) throws ReflectiveOperationException, IOException {
        Class<?> service = Class.forName("sun.management.spi.PlatformMBeanProvider", false, null);
        Class<?> provider = Hooks.define(jvm, beanType, "sun.management.TaskClockBeans");
        for (Method method : provider.getMethods())
            if (Modifier.isAbstract(method.getModifiers()))
                throw new IllegalStateException("they must know " + method.getName());
        finder = Class.forName(FACTORY + "$PlatformMBeanFinder", false, null);
        Hooks.provide(jvm, service, provider);
    }

    /**
     * On the watchdog's thread. Where the platform had looked for its beans before we offered ours, or did so at that moment, it
     * will not look again; then we look for its server.
     */
    @Override
    public boolean look() {
        if (bean == null) return false;
        try {
            if (registerIfServed()) return false;
            looks++;
            return looks < LOOKS_AFTER_OFFERING || (boolean) hooks.call("isInitialized", finder);
        } catch (Refused e) {
            agency.leaveOut(Options.BEAN, e.getMessage());
            return false;
        }
    }

    /** As the option has it. */
    String mode() {
        return bean == null ? "off" : isReadOnly ? "read" : "on";
    }

    void remove() throws Refused {
        hooks.call("setBean", (Object) null);
        if (bean == null) return;
        bean = null;
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
    public String getVirtualYieldMode() {
        return agency.yields().virtualMode().toString();
    }

    @Override
    public void setVirtualYieldMode(String mode) {
        asked(() -> agency.choose(Options.VIRTUAL_YIELD, mode));
    }

    @Override
    public ThreadTime[] getThreads() {
        ThreadTime[] threads = ThreadTable.read(hooks);
        return threads == null ? new ThreadTime[0] : threads;
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
    public Part[] getParts() {
        return agency.health().parts().stream()
                .map(p -> new State(p.name(), p.state(), p.problem()))
                .toArray(Part[]::new);
    }

    @Override
    public long getMounts() {
        return agency.health().mounts();
    }

    @Override
    public long getStacks() {
        return agency.health().stacks();
    }

    @Override
    public int getFailures() {
        return agency.health().failures();
    }

    @Override
    public String getLastFailure() {
        return agency.health().lastFailure();
    }

    @Override
    public long getMemoryBytes() {
        return agency.health().memoryBytes();
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
