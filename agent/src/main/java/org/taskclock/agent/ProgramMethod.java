// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.reflect.Method;

/**
 * A public method of a class or interface of the program, which the agent cannot see. Several class loaders of the
 * program may have such a class. What is found is kept with the class of the object, not in the agent, so it can be
 * unloaded.
 */
final class ProgramMethod extends ClassValue<Method> {
    private final String owner;
    private final String name;
    private final Class<?>[] parameters;

    /**
     * Names a method.
     *
     * @param owner the class or interface that declares it
     */
    ProgramMethod(String owner, String name, Class<?>... parameters) {
        this.owner = owner;
        this.name = name;
        this.parameters = parameters;
    }

    /** Calls the method. Returns null if the object is null or does not have the method. */
    Object call(Object object, Object... arguments) throws ReflectiveOperationException {
        Method method = object == null ? null : get(object.getClass());
        return method == null ? null : method.invoke(object, arguments);
    }

    @Override
    protected Method computeValue(Class<?> type) {
        Class<?> declaring = find(type);
        try {
            return declaring == null ? null : declaring.getMethod(name, parameters);
        } catch (NoSuchMethodException | LinkageError e) {
            return null; // an earlier version of the class
        }
    }

    private Class<?> find(Class<?> type) {
        if (type == null || type.getName().equals(owner)) return type;
        for (Class<?> implemented : type.getInterfaces()) {
            Class<?> found = find(implemented);
            if (found != null) return found;
        }
        return find(type.getSuperclass());
    }
}
