// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import javax.management.TaskClockBean;
import javax.management.TaskClockBeans;
import org.taskclock.AccountUsage;
import org.taskclock.ClockStatus;
import org.taskclock.CpuAccounts;
import org.taskclock.OpenSection;
import org.taskclock.TaskClock;

/** The implementation of the agent's bean, which also registers itself. */
public final class AgentBean implements TaskClockMXBean, Watchdog.Check, Supplier<DynamicMBean> {
    private record VerdictData(String getName, boolean isUsable, String getReason) implements BackendVerdict {}

    private record AccountData(
            String getType,
            String getName,
            long getCpuNanos,
            long getUserNanos,
            long getSystemNanos,
            long getWaitNanos,
            long getAllocatedBytes,
            long getSections,
            long getUncounted,
            long getUnclosed,
            long getMisclosed,
            long getMedianNanos,
            long getPercentile99Nanos)
            implements Account {
        AccountData(AccountUsage account) {
            this(
                    account.type(),
                    account.name(),
                    account.cpuNanos(),
                    account.userNanos(),
                    account.systemNanos(),
                    account.waitNanos(),
                    account.allocatedBytes(),
                    account.sections(),
                    account.uncounted(),
                    account.unclosed(),
                    account.misclosed(),
                    account.quantileNanos(0.5),
                    account.quantileNanos(0.99));
        }
    }

    private record SectionData(
            String getType, String getName, String getThread, long getId, long getOpenNanos, long getCpuNanos)
            implements Section {
        SectionData(OpenSection section) {
            this(
                    section.type(),
                    section.name(),
                    section.thread().getName(),
                    section.threadId(),
                    section.openNanos(),
                    section.cpuNanos());
        }
    }

    private static final int MIN_CHECKS = 3;
    private static final String COMPONENTS = "componentMap";

    private final AgentController controller;
    private final TaskClockHooks hooks;
    private final Watchdog watchdog;
    private boolean isDefined;

    /** The bean to register; null for none. */
    private volatile TaskClockBean bean;

    private boolean isReadOnly;
    private boolean isProviderAdded;
    /** The JDK's class that looks for providers once, when it is initialized. Null until our provider is added. */
    private Class<?> finder;

    /** Our provider's component. Null until the provider is added. */
    private Object component;

    private int checks;

    AgentBean(AgentController controller, TaskClockHooks hooks, Watchdog watchdog) {
        this.controller = controller;
        this.hooks = hooks;
        this.watchdog = watchdog;
    }

    /**
     * Registers the bean: at once if the platform's MBean server exists, otherwise when the program first asks for the
     * server. Creating the server here would initialize logging, which the program may want to configure first, and
     * take 0.2 s of CPU time.
     */
    void install(Instrumentation instrumentation, boolean readOnly) throws FeatureException {
        if (bean != null && readOnly == isReadOnly) return;
        remove();
        try {
            if (!isDefined) Hooks.defineClass(instrumentation, ObjectName.class, "javax.management.TaskClockBean");
            isDefined = true;
            bean = new TaskClockBean(this, readOnly);
            isReadOnly = readOnly;
            if (!registerIfServerExists()) offer(instrumentation);
        } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
            bean = null;
            throw new FeatureException("the platform beans of this JVM are not as expected: " + e, e);
        } catch (VirtualMachineError e) {
            bean = null; // so that the installation can be tried again
            throw e;
        }
    }

    /** Returns the bean with its open types, for its first client. */
    @Override
    public DynamicMBean get() {
        return new StandardMBean(this, TaskClockMXBean.class, true);
    }

    /** Registers the bean if the platform's MBean server exists. Returns whether it does. */
    @SuppressWarnings("LockOnNonEnclosingClassLiteral") // the lock of the JDK
    private boolean registerIfServerExists() throws FeatureException {
        try {
            // ManagementFactory holds this lock while it creates the server and registers the platform's beans.
            synchronized (ManagementFactory.class) {
                MBeanServer server = (MBeanServer) hooks.staticField(ManagementFactory.class, "platformMBeanServer");
                if (server == null) return false;
                ObjectName name = new ObjectName(NAME);
                TaskClockBean ours = bean;
                if (ours != null && !server.isRegistered(name)) server.registerMBean(ours, name);
                // The bean may have been removed in the meantime.
                if (ours != null && bean != ours) server.unregisterMBean(name);
                return true;
            }
        } catch (JMException | RuntimeException | LinkageError e) {
            throw new FeatureException("cannot register " + NAME + ": " + e, e);
        }
    }

    /** Adds the bean to those that the platform registers when it creates its server. */
    private void offer(Instrumentation instrumentation) throws ReflectiveOperationException, IOException {
        hooks.setBean(bean);
        if (!isProviderAdded) addProvider(instrumentation);
        isProviderAdded = true;
        addToComponents();
        checks = 0;
        watchdog.watch(this);
    }

    private void addProvider(Instrumentation instrumentation) throws ReflectiveOperationException, IOException {
        Hooks.defineClass(instrumentation, ObjectName.class, "javax.management.TaskClockBeans");
        for (Method method : TaskClockBeans.class.getMethods())
            if (Modifier.isAbstract(method.getModifiers()))
                throw new IllegalStateException("unknown abstract method " + method.getName());
        finder = Class.forName(ManagementFactory.class.getName() + "$PlatformMBeanFinder", false, null);
        component = new TaskClockBeans();
        Class<?> provider = component.getClass();
        Map<Class<?>, List<Class<?>>> provides = Map.of(provider.getSuperclass(), List.of(provider));
        instrumentation.redefineModule(provider.getModule(), Set.of(), Map.of(), Map.of(), Set.of(), provides);
    }

    /**
     * Adds our component to those that the platform has found, if it has already looked for providers. The map is
     * replaced, because a thread of the program may be iterating over it.
     */
    @SuppressWarnings("unchecked") // the type of the field
    private void addToComponents() {
        if (!hooks.isInitialized(finder)) return;
        Map<String, Object> found = (Map<String, Object>) hooks.staticField(finder, COMPONENTS);
        if (found.containsKey(NAME)) return;
        Map<String, Object> components = new HashMap<>(found);
        components.put(NAME, component);
        hooks.setStaticField(finder, COMPONENTS, components);
    }

    /**
     * Registers the bean if the server exists without it. This can happen if the platform looked for providers while
     * ours was being added, or if compiled code uses the map of components that was replaced.
     */
    @Override
    public boolean check() {
        if (bean == null) return false;
        try {
            if (registerIfServerExists()) return false;
            addToComponents();
            checks++;
            return checks < MIN_CHECKS || hooks.isInitialized(finder);
        } catch (FeatureException e) {
            controller.reportUnavailable(Options.BEAN, e.getMessage());
            return false;
        }
    }

    /** Returns the value of the option {@link Options#BEAN}. */
    String mode() {
        return bean == null ? "off" : isReadOnly ? "read" : "on";
    }

    void remove() throws FeatureException {
        hooks.setBean(null);
        if (bean == null) return;
        bean = null;
        // If the platform has no server yet, asking ManagementFactory for it would create one.
        for (MBeanServer server : MBeanServerFactory.findMBeanServer(null)) {
            try {
                ObjectName name = new ObjectName(NAME);
                if (server.isRegistered(name)) server.unregisterMBean(name);
            } catch (JMException | RuntimeException e) {
                throw new FeatureException("cannot unregister " + NAME + ": " + e, e);
            }
        }
    }

    // ---- attributes

    @Override
    public String getVersion() {
        return AgentController.version();
    }

    @Override
    public String getBackend() {
        return controller.backend();
    }

    @Override
    public BackendVerdict[] getBackends() {
        return TaskClock.status().backends().stream()
                .map(v -> new VerdictData(v.backend().toString(), v.usable(), v.reason()))
                .toArray(BackendVerdict[]::new);
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
        return controller.isEnabled();
    }

    @Override
    public void setEnabled(boolean enabled) {
        run(() -> controller.setEnabled(enabled));
    }

    @Override
    public boolean isThreadMXBeanReplaced() {
        return controller.answersThreadTimes();
    }

    @Override
    public void setThreadMXBeanReplaced(boolean fromClock) {
        run(() -> controller.setOption(Options.THREADMXBEAN, fromClock ? "on" : "off"));
    }

    @Override
    public String getYieldMode() {
        return controller.yields().mode().toString();
    }

    @Override
    public void setYieldMode(String mode) {
        run(() -> controller.setOption(Options.YIELD, mode));
    }

    @Override
    public String getVirtualYieldMode() {
        return controller.yields().virtualMode().toString();
    }

    @Override
    public void setVirtualYieldMode(String mode) {
        run(() -> controller.setOption(Options.VIRTUAL_YIELD, mode));
    }

    @Override
    public ThreadTime[] getThreads() {
        ThreadTime[] threads = ThreadTable.read(hooks);
        return threads == null ? new ThreadTime[0] : threads;
    }

    @Override
    public Yielder[] getYielders() {
        return controller.yields().yielders().toArray(new Yielder[0]);
    }

    @Override
    public YieldSite[] getYieldSites() {
        return controller.yields().counts().sites().toArray(new YieldSite[0]);
    }

    @Override
    public Map<String, Long> getVirtualYielders() {
        return controller.yields().counts().virtualThreads();
    }

    @Override
    public boolean isVirtualThreadAccounting() {
        return controller.accounts().isInstalled();
    }

    @Override
    public void setVirtualThreadAccounting(boolean on) {
        run(() -> controller.setOption(Options.VTHREADS, on ? "on" : "off"));
    }

    @Override
    public VirtualThreadGroup[] getVirtualThreads() {
        return controller.accounts().groups().toArray(new VirtualThreadGroup[0]);
    }

    @Override
    public long getQueuedVirtualThreads() {
        return controller.accounts().queued();
    }

    @Override
    public int getVirtualThreadParallelism() {
        return controller.accounts().parallelism();
    }

    @Override
    public Carrier[] getCarriers() {
        return controller.accounts().carriers().toArray(new Carrier[0]);
    }

    @Override
    public Account[] getAccounts() {
        return CpuAccounts.read().stream()
                .flatMap(type -> type.rows().stream())
                .map(AccountData::new)
                .toArray(Account[]::new);
    }

    @Override
    public Section[] getOpenSections() {
        return CpuAccounts.read().stream()
                .flatMap(type -> type.openSections().stream())
                .map(SectionData::new)
                .toArray(Section[]::new);
    }

    @Override
    public Feature[] getFeatures() {
        return controller.health().features().toArray(new Feature[0]);
    }

    @Override
    public long getMounts() {
        return controller.health().mounts().count();
    }

    @Override
    public long getMountClockCalls() {
        return controller.health().mounts().clockCalls();
    }

    @Override
    public long getMountUsageCalls() {
        return controller.health().mounts().usageCalls();
    }

    @Override
    public long getStacks() {
        return controller.health().stacks();
    }

    @Override
    public int getFailures() {
        return controller.health().failures();
    }

    @Override
    public String getLastFailure() {
        return controller.health().lastFailure();
    }

    @Override
    public long getMemoryBytes() {
        return controller.health().memoryBytes();
    }

    @Override
    public boolean isTruncated() {
        return controller.yields().counts().isTruncated()
                || controller.accounts().isTruncated();
    }

    @Override
    public void detach() {
        run(controller::detach);
    }

    /** Makes a change. If that fails, throws an exception whose class every client has. */
    private static void run(AgentController.Step step) {
        try {
            step.run();
        } catch (FeatureException e) {
            throw new UnsupportedOperationException(e.getMessage());
        }
    }
}
