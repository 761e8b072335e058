// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package javax.management;

import java.util.List;
import java.util.Map;
import java.util.Set;
import sun.management.spi.PlatformMBeanProvider;

/**
 * Adds the agent's bean to the platform's beans, which ManagementFactory registers when it creates the MBean server.
 * The agent adds this service provider to the module java.management, so it does not have to change a JDK class.
 */
public final class TaskClockBeans extends PlatformMBeanProvider
        implements PlatformMBeanProvider.PlatformComponent<Object> {
    @Override
    public List<PlatformComponent<?>> getPlatformComponentList() {
        return List.of(this);
    }

    @Override
    public String getObjectNamePattern() {
        return "org.taskclock:type=TaskClock";
    }

    @Override
    public Map<String, Object> nameToMBeanMap() {
        Object bean = TaskClockHooks.bean();
        return bean == null ? Map.of() : Map.of(getObjectNamePattern(), bean);
    }

    /** Returns an empty set, so ManagementFactory.getPlatformMXBean does not find the bean. */
    @Override
    public Set<Class<?>> mbeanInterfaces() {
        return Set.of();
    }

    @Override
    public Set<String> mbeanInterfaceNames() {
        return Set.of();
    }
}
