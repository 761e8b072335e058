// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package sun.management;

import java.util.function.BiFunction;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.InvalidAttributeValueException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;
import javax.management.MBeanRegistration;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.openmbean.OpenMBeanAttributeInfo;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenType;

/**
 * What is registered as the agent's bean. A class of the JDK's own loader, so that a program cannot get from the bean to the
 * agent's class loader, and what the agent may do. The bean itself, whose open types take the JVM long to make, is made
 * when the first client asks.
 */
public final class TaskClockBean
        implements DynamicMBean, MBeanRegistration, BiFunction<Supplier<DynamicMBean>, Boolean, Object> {
    static {
        // The agent, which initializes this class, takes it from there at once, and makes its beans with it.
        System.getProperties().put("taskclock.bean", new TaskClockBean(null, true));
    }

    private static final String DESCRIPTION = "CPU times by TaskClock";

    private final Supplier<DynamicMBean> source;
    private final boolean isReadOnly;
    private boolean isRegistered;
    private DynamicMBean bean;

    private TaskClockBean(Supplier<DynamicMBean> source, boolean isReadOnly) {
        this.source = source;
        this.isReadOnly = isReadOnly;
    }

    /** Makes a bean. */
    @Override
    public Object apply(Supplier<DynamicMBean> from, Boolean readOnly) {
        return new TaskClockBean(from, readOnly);
    }

    private synchronized DynamicMBean bean() {
        if (bean == null) bean = source.get();
        return bean;
    }

    @Override
    public ObjectName preRegister(MBeanServer server, ObjectName name) {
        return name;
    }

    @Override
    public void postRegister(Boolean registrationDone) {
        isRegistered = true;
    }

    @Override
    public void preDeregister() {}

    @Override
    public void postDeregister() {}

    @Override
    public MBeanInfo getMBeanInfo() {
        // The server asks for the name of the class, and no more.
        if (!isRegistered) return new MBeanInfo(getClass().getName(), DESCRIPTION, null, null, null, null);
        MBeanInfo info = bean().getMBeanInfo();
        if (!isReadOnly) return info;
        MBeanAttributeInfo[] attributes = info.getAttributes();
        for (int i = 0; i < attributes.length; i++) attributes[i] = readOnly(attributes[i]);
        return new MBeanInfo(
                info.getClassName(), info.getDescription(), attributes, null, null, null, info.getDescriptor());
    }

    private static MBeanAttributeInfo readOnly(MBeanAttributeInfo a) {
        if (!a.isWritable()) return a;
        // A primitive one is no open one.
        if (!(a instanceof OpenMBeanAttributeInfo)) {
            return new MBeanAttributeInfo(
                    a.getName(), a.getType(), a.getDescription(), a.isReadable(), false, a.isIs(), a.getDescriptor());
        }
        OpenType<?> type = ((OpenMBeanAttributeInfo) a).getOpenType();
        return new OpenMBeanAttributeInfoSupport(
                a.getName(), a.getDescription(), type, a.isReadable(), false, a.isIs(), a.getDescriptor());
    }

    private void refuseIfReadOnly() throws MBeanException {
        if (isReadOnly)
            throw new MBeanException(
                    new UnsupportedOperationException("the agent was started with bean=read: use bean=on to allow changes"));
    }

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException, MBeanException, ReflectionException {
        return bean().getAttribute(name);
    }

    @Override
    public AttributeList getAttributes(String[] names) {
        return bean().getAttributes(names);
    }

    @Override
    public void setAttribute(Attribute attribute)
            throws AttributeNotFoundException, InvalidAttributeValueException, MBeanException, ReflectionException {
        refuseIfReadOnly();
        bean().setAttribute(attribute);
    }

    /** As the interface wants it, those that cannot be set are left out of what is returned. */
    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return isReadOnly ? new AttributeList() : bean().setAttributes(attributes);
    }

    @Override
    public Object invoke(String action, Object[] arguments, String[] signature)
            throws MBeanException, ReflectionException {
        refuseIfReadOnly();
        return bean().invoke(action, arguments, signature);
    }
}
