// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Forwards the methods of a proxy to a target. Subclasses do something around them. */
abstract class ForwardingHandler implements InvocationHandler {
    private final Object target;

    ForwardingHandler(Object target) {
        if (target == null) throw new NullPointerException("target");
        this.target = target;
    }

    /** Returns a proxy that has an interface and, if the target has it, AutoCloseable. */
    final <T> T proxy(Class<T> type) {
        Class<?>[] types = target instanceof AutoCloseable && !AutoCloseable.class.isAssignableFrom(type)
                ? new Class<?>[] {type, AutoCloseable.class}
                : new Class<?>[] {type};
        return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), types, this));
    }

    @Override
    public final Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getDeclaringClass() == Object.class && method.getName().equals("equals"))
            return proxy == arguments[0];
        try {
            return call(proxy, method, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    Object forward(Method method, Object[] arguments) throws ReflectiveOperationException {
        return method.invoke(target, arguments);
    }

    abstract Object call(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException;
}
