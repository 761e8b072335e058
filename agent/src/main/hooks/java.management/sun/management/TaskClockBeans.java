// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package sun.management;

import java.util.List;
import java.util.Map;
import java.util.Set;
import sun.management.spi.PlatformMBeanProvider;

/**
 * Makes the agent's bean one of the platform's, which ManagementFactory registers when it makes the MBean server. A service
 * that the agent adds to java.management, so no class of the JDK is changed for it.
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

    /** It is not asked for by ManagementFactory.getPlatformMXBean. */
    @Override
    public Set<Class<?>> mbeanInterfaces() {
        return Set.of();
    }

    @Override
    public Set<String> mbeanInterfaceNames() {
        return Set.of();
    }
}
