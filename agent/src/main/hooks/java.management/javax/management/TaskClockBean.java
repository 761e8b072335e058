// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package javax.management;

import java.util.function.Supplier;
import javax.management.openmbean.OpenMBeanAttributeInfo;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenType;

/**
 * The object that is registered as the agent's bean. The JDK's own loader defines this class, so a program cannot reach
 * the agent's class loader and its privileges through the bean. The bean behind it is created when the first client
 * uses it, because the JVM takes a long time to create the open types.
 */
public final class TaskClockBean implements DynamicMBean, MBeanRegistration {
    private static final String DESCRIPTION = "CPU times by TaskClock";

    private final Supplier<DynamicMBean> source;
    private final boolean isReadOnly;
    private boolean isRegistered;
    private DynamicMBean bean;

    public TaskClockBean(Supplier<DynamicMBean> source, boolean isReadOnly) {
        this.source = source;
        this.isReadOnly = isReadOnly;
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
        // Before it registers the bean, the server needs only the class name.
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
        // The info of a primitive attribute is not an OpenMBeanAttributeInfo.
        if (!(a instanceof OpenMBeanAttributeInfo)) {
            return new MBeanAttributeInfo(
                    a.getName(), a.getType(), a.getDescription(), a.isReadable(), false, a.isIs(), a.getDescriptor());
        }
        OpenType<?> type = ((OpenMBeanAttributeInfo) a).getOpenType();
        return new OpenMBeanAttributeInfoSupport(
                a.getName(), a.getDescription(), type, a.isReadable(), false, a.isIs(), a.getDescriptor());
    }

    private void requireWritable() throws MBeanException {
        if (!isReadOnly) return;
        String message = "the agent was started with bean=read: use bean=on to allow changes";
        throw new MBeanException(new UnsupportedOperationException(message));
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
        requireWritable();
        bean().setAttribute(attribute);
    }

    /** Returns only the attributes that were set, as DynamicMBean specifies. */
    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return isReadOnly ? new AttributeList() : bean().setAttributes(attributes);
    }

    @Override
    public Object invoke(String operation, Object[] arguments, String[] signature)
            throws MBeanException, ReflectionException {
        requireWritable();
        return bean().invoke(operation, arguments, signature);
    }
}
