// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** What the agent changes in methods of programs, without a JVM that runs it. */
class SectionPatchTest {
    private static final String NAME = "org/taskclock/agent/SectionPatchTest$Target";

    /** A class with methods of several kinds. */
    abstract static class Target {
        Object call;

        void work(Object argument) {
            call = argument;
        }

        abstract void missing(Object argument);

        static void still(Object argument) {}
    }

    private static byte[] bytes(Class<?> type) throws IOException {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    private static AccountPoint point(String owner, String method, String descriptor, String field) {
        return new AccountPoint(
                0,
                AccountPoint.ENDPOINT,
                owner,
                method,
                descriptor,
                field,
                field == null ? null : "Ljava/lang/Object;",
                (self, argument) -> null);
    }

    private static AccountPoint point(String method, String field) {
        return point(NAME, method, "(Ljava/lang/Object;)V", field);
    }

    /** Counts what the inserted code calls. */
    private static List<String> hooks(byte[] bytes) {
        List<String> called = new ArrayList<>();
        new ClassReader(bytes)
                .accept(
                        new ClassVisitor(Opcodes.ASM9) {
                            @Override
                            public MethodVisitor visitMethod(int a, String method, String type, String s, String[] e) {
                                return new MethodVisitor(Opcodes.ASM9) {
                                    @Override
                                    public void visitMethodInsn(int o, String owner, String name, String t, boolean i) {
                                        if (owner.equals("java/lang/TaskClockSections"))
                                            called.add(method + ": " + name);
                                    }
                                };
                            }
                        },
                        0);
        return called;
    }

    @Test
    void shouldWrapOnlyTheMethod() throws Exception {
        byte[] changed = SectionPatch.apply(bytes(Target.class), List.of(point("work", null)));
        assertThat(hooks(changed)).containsExactly("work: enter", "work: exit", "work: exit");
        assertThat(hooks(SectionPatch.apply(bytes(Target.class), List.of(point("work", "call")))))
                .isEqualTo(hooks(changed));
    }

    /** Another agent may redefine a class with what it has seen, which includes our change. */
    @Test
    void shouldNotWrapTwice() throws Exception {
        byte[] changed = SectionPatch.apply(bytes(Target.class), List.of(point("work", null)));
        assertThat(SectionPatch.apply(changed, List.of(point("work", null)))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"missing", "still"})
    void shouldRefuseAMethodWithoutABody(String method) throws IOException {
        byte[] bytes = bytes(Target.class);
        assertThatThrownBy(() -> SectionPatch.apply(bytes, List.of(point(method, null))))
                .isInstanceOf(FeatureException.class)
                .hasMessage("org.taskclock.agent.SectionPatchTest$Target is not as expected: " + method
                        + " has no body to wrap");
    }

    @Test
    void shouldRefuseAnotherShape() throws IOException {
        byte[] bytes = bytes(Target.class);
        assertThatThrownBy(() -> SectionPatch.apply(bytes, List.of(point(NAME, "work", "()V", null))))
                .hasMessageEndingWith("is not as expected: no method work()V");
        assertThatThrownBy(() -> SectionPatch.apply(bytes, List.of(point("work", "other"))))
                .hasMessageEndingWith("is not as expected: no field other of type Ljava/lang/Object;");
        ClassWriter old = new ClassWriter(0);
        old.visit(Opcodes.V1_5, 0, NAME, null, "java/lang/Object", null);
        assertThatThrownBy(() -> SectionPatch.apply(old.toByteArray(), List.of(point("work", null))))
                .hasMessageEndingWith("is not as expected: class file version 49");
    }

    /** All or nothing: with half of the callbacks of a call, its CPU time would be wrong. */
    @Test
    void shouldRefuseAClassThatLacksOneOfItsMethods() throws IOException {
        byte[] bytes = bytes(Target.class);
        List<AccountPoint> points = List.of(point("work", null), point("other", null));
        assertThatThrownBy(() -> SectionPatch.apply(bytes, points)).hasMessageContaining("no method other");
    }

    /** Wraps all methods of real libraries, whatever is in them, and lets the JVM verify the result. */
    @ParameterizedTest
    @ValueSource(
            classes = {org.eclipse.jetty.server.Server.class, org.springframework.web.servlet.DispatcherServlet.class})
    void shouldKeepAllMethodsValid(Class<?> library) throws Exception {
        int methods = 0;
        String jar = library.getProtectionDomain().getCodeSource().getLocation().getPath();
        try (JarFile file = new JarFile(jar)) {
            WrappingLoader loader = new WrappingLoader(file);
            for (Enumeration<JarEntry> all = file.entries(); all.hasMoreElements(); ) {
                String name = all.nextElement().getName();
                if (!name.endsWith(".class") || name.startsWith("META-INF") || name.endsWith("-info.class")) continue;
                verify(
                        loader,
                        name.substring(0, name.length() - ".class".length()).replace('/', '.'));
            }
            methods = loader.methods;
        }
        assertThat(methods).isGreaterThan(500);
    }

    /** Links the class, which verifies it. Ignores classes that need a library that is not there. */
    private static void verify(ClassLoader loader, String name) throws ClassNotFoundException {
        try {
            Class<?> type = Class.forName(name, false, loader);
            assertThat(type.getClassLoader()).isEqualTo(loader);
            assertThat(type.getDeclaredMethods()).isNotNull();
        } catch (NoClassDefFoundError e) {
            assertThat(e).hasMessageNotContaining("TaskClock");
        }
    }

    /** Loads the classes of a jar with all methods wrapped that have an object as their first argument. */
    private static final class WrappingLoader extends ClassLoader {
        private final JarFile jar;
        int methods;

        WrappingLoader(JarFile jar) {
            super(SectionPatchTest.class.getClassLoader());
            this.jar = jar;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            JarEntry entry = jar.getJarEntry(name.replace('.', '/') + ".class");
            if (entry == null) return super.loadClass(name, resolve);
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) return loaded;
            try (InputStream in = jar.getInputStream(entry)) {
                byte[] bytes = in.readAllBytes();
                List<AccountPoint> points = points(bytes);
                methods += points.size();
                byte[] changed = points.isEmpty() ? bytes : SectionPatch.apply(bytes, points);
                return defineClass(name, changed, 0, changed.length);
            } catch (IOException | FeatureException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private static List<AccountPoint> points(byte[] bytes) {
            ClassReader reader = new ClassReader(bytes);
            List<AccountPoint> points = new ArrayList<>();
            reader.accept(
                    new ClassVisitor(Opcodes.ASM9) {
                        @Override
                        public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                            Type[] arguments = Type.getArgumentTypes(type);
                            boolean hasBody = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0
                                    && (access & Opcodes.ACC_NATIVE) == 0
                                    && !name.equals("<init>");
                            if (hasBody && arguments.length > 0 && arguments[0].getSort() >= Type.ARRAY)
                                points.add(point(reader.getClassName(), name, type, null));
                            return null;
                        }
                    },
                    0);
            return points;
        }
    }
}
