// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** Checks that a program cannot take the agent's privileges by reflection. */
class PrivilegesTest {
    @Test
    void shouldNotGiveTheProgramItsPrivileges() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"))
                .run(Program.class)
                .assertSilent();
    }

    @Test
    void shouldNotGiveTheProgramItsPrivilegesWhenAttached() throws IOException, InterruptedException {
        JvmLauncher.withoutAgent()
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"))
                .run(Program.class, "attach")
                .assertSilent();
    }

    static final class Program {
        /** What the walk must find in an array in a private field of a superclass. */
        private static class Planted {
            @SuppressWarnings("UnusedVariable") // the walk reads it
            private final Object[] found = {null, MethodHandles.lookup()};
        }

        private static final class PlantedDeeper extends Planted {}

        public static void main(String[] args) throws Exception {
            if (args.length > 0) attach();
            AgentCheck.bean();
            AgentCheck.awaitDeferredFeatures();
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            assertThat(server.getClassLoaderFor(new ObjectName(TaskClockMXBean.NAME)))
                    .isNull();
            MethodHandles.Lookup[] lookups = {
                MethodHandles.lookup(),
                MethodHandles.publicLookup(),
                MethodHandles.publicLookup().in(Thread.class),
                MethodHandles.lookup().in(Thread.class)
            };
            for (MethodHandles.Lookup lookup : lookups)
                assertThatThrownBy(() -> TaskClockHooks.open(lookup)).isInstanceOf(SecurityException.class);
            Reachable reachable = new Reachable();
            List<Class<?>> ours = classes();
            assertThat(ours).contains(Agent.class, AgentLoader.class, TaskClockHooks.class);
            for (Class<?> type : ours) reachable.addClass(type);
            for (Thread thread : Thread.getAllStackTraces().keySet()) reachable.add(thread, "thread");
            reachable.add(System.getProperties(), "system properties");
            // Null if the platform created its server before the agent offered the bean.
            reachable.add(TaskClockHooks.bean(), "bean");
            reachable.walk();
            assertThat(reachable.privileged).isEmpty();
            // The walk reads private static fields of the agent's classes, and the elements of arrays.
            assertThat(reachable.seen).contains("org.taskclock.StartupThread", AgentLoader.HIDDEN);
            assertThat(reachable.seen).contains(Thread.currentThread(), ClassLoader.getSystemClassLoader());
            reachable.add(new PlantedDeeper(), "planted");
            reachable.walk();
            assertThat(reachable.privileged).singleElement().asString().contains("Lookup");
        }

        private static void attach() throws Exception {
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            self.loadAgent(System.getProperty("agent.jar"), "yield=count");
            self.detach();
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on,yield=count");
        }

        /** Returns the classes of the agent that the program can name, those in the JDK's packages included. */
        private static List<Class<?>> classes() throws IOException {
            List<Class<?>> found = new ArrayList<>();
            try (JarFile jar = new JarFile(System.getProperty("agent.jar"))) {
                jar.stream()
                        .map(entry -> entry.getName())
                        .filter(n -> n.endsWith(".class"))
                        .forEach(name -> {
                            boolean isHidden = name.startsWith(AgentLoader.HIDDEN);
                            String path = isHidden ? name.substring(AgentLoader.HIDDEN.length()) : name;
                            String type = path.substring(0, path.length() - ".class".length())
                                    .replace('/', '.');
                            try {
                                found.add(Class.forName(type, false, isHidden ? null : Agent.class.getClassLoader()));
                            } catch (ClassNotFoundException | LinkageError e) {
                                // hidden from the program, or not defined in this JVM
                            }
                        });
            }
            return found;
        }
    }

    /** The objects that fields lead to, as far as the JVM permits the program to read them. */
    private static final class Reachable {
        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final Deque<Object> next = new ArrayDeque<>();
        final List<String> privileged = new ArrayList<>();

        void addClass(Class<?> type) {
            if (!seen.add(type)) return;
            ClassLoader loader = type.getClassLoader();
            if (loader != null && loader != ClassLoader.getSystemClassLoader()) add(loader, "loader of " + type);
            for (Field field : type.getDeclaredFields()) if (Modifier.isStatic(field.getModifiers())) read(field, null);
        }

        void add(Object object, String path) {
            if (object == null || seen.contains(object)) return;
            if (object instanceof Class<?> type) {
                if (type.getName().contains("taskclock")) addClass(type);
                return;
            }
            seen.add(object);
            if (isPrivileged(object)) privileged.add(path + ": " + object.getClass());
            next.add(object);
        }

        private static boolean isPrivileged(Object object) {
            if (object instanceof MethodHandles.Lookup lookup)
                return (lookup.lookupModes() & MethodHandles.Lookup.PRIVATE) != 0;
            return object instanceof Instrumentation
                    || object instanceof AgentLoader
                    || object.getClass().getClassLoader() instanceof AgentLoader
                    || object instanceof TaskClockHooks;
        }

        void walk() {
            while (!next.isEmpty()) {
                Object object = next.remove();
                if (object instanceof Object[]) {
                    for (int i = 0; i < Array.getLength(object); i++) add(Array.get(object, i), "element of " + object);
                    continue;
                }
                if (object instanceof Thread thread) {
                    add(thread.getContextClassLoader(), "context class loader of " + thread);
                    add(thread.getUncaughtExceptionHandler(), "handler of " + thread);
                }
                for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass())
                    for (Field field : type.getDeclaredFields())
                        if (!Modifier.isStatic(field.getModifiers())) read(field, object);
            }
        }

        private void read(Field field, Object object) {
            if (field.getType().isPrimitive()) return;
            try {
                field.setAccessible(true);
                add(field.get(object), field.toString());
            } catch (InaccessibleObjectException | IllegalAccessException e) {
                // closed to the program
            } catch (LinkageError e) {
                // The program's copies of some classes cannot be initialized.
            }
        }
    }
}
