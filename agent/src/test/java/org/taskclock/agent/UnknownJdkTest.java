// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** A JDK, or a use of it, that the agent does not know: what cannot be had is left out in one line, and the program runs. */
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
class UnknownJdkTest {
    private static final String LEFT_OUT = "taskclock: agent: left out: ";

    @TempDir
    Path directory;

    // ---- JDKs with other methods

    /** Renames methods, and calls of them. */
    private static UnaryOperator<byte[]> renamed(String from, String to) {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                String own = name.equals(from) ? to : name;
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, own, type, s, e)) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String called, String t, boolean i) {
                        super.visitMethodInsn(opcode, owner, called.equals(from) ? to : called, t, i);
                    }
                };
            }
        });
    }

    /** Puts a method in Java that returns 4242 in place of a native with one long. */
    private static UnaryOperator<byte[]> inJava(String method) {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                if (!name.equals(method)) return super.visitMethod(access, name, type, s, e);
                MethodVisitor body = super.visitMethod(access & ~Opcodes.ACC_NATIVE, name, type, s, e);
                body.visitCode();
                body.visitLdcInsn(4242L);
                body.visitInsn(Opcodes.LRETURN);
                body.visitMaxs(2, 2);
                body.visitEnd();
                return body;
            }
        });
    }

    private static UnaryOperator<byte[]> changed(UnaryOperator<ClassVisitor> change) {
        return bytes -> {
            ClassWriter writer = new ClassWriter(0);
            new ClassReader(bytes).accept(change.apply(writer), 0);
            return writer.toByteArray();
        };
    }

    private Jvm on(Jvm jvm, String module, UnaryOperator<byte[]> change, String... classes) throws IOException {
        for (String name : classes) {
            Path file = directory.resolve(name + ".class");
            Files.createDirectories(file.getParent());
            try (InputStream in =
                    ModuleLayer.boot().findModule(module).orElseThrow().getResourceAsStream(name + ".class")) {
                Files.write(file, change.apply(in.readAllBytes()));
            }
        }
        return jvm.option("--patch-module", module + "=" + directory);
    }

    private static void assertLeftOut(Jvm.End end, String reason) {
        assertThat(end.exit()).as(end.toString()).isZero();
        assertThat(end.err().lines().filter(line -> !line.startsWith("WARNING: java.io.tmpdir")))
                .as(end.toString())
                .hasSize(1)
                .first()
                .asString()
                .contains(reason);
    }

    @Test
    void shouldLeaveThreadTimesWithoutTheNative() throws IOException, InterruptedException {
        Jvm jvm = on(
                Jvm.with("yield=count"),
                "java.management",
                inJava("getThreadUserCpuTime0"),
                "sun/management/ThreadImpl");
        assertLeftOut(
                jvm.run(Left.class, "4242"), LEFT_OUT + "threadmxbean: sun.management.ThreadImpl has other natives");
    }

    @Test
    void shouldLeaveThreadTimesWithARenamedNative() throws IOException, InterruptedException {
        UnaryOperator<byte[]> change = renamed("getThreadUserCpuTime0", "getThreadUserCpuTime9");
        Jvm jvm = on(Jvm.with("yield=count"), "java.management", change, "sun/management/ThreadImpl");
        assertLeftOut(jvm.run(Left.class, "none"), LEFT_OUT + "threadmxbean: ");
    }

    static final class Left {
        public static void main(String[] args) throws Exception {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=off,yield=count", "; left out: ");
            long before = bean.getCurrentThreadCpuTime();
            assertThat(before).isPositive();
            long id = Thread.currentThread().getId();
            try {
                if (args[0].equals("4242"))
                    assertThat(bean.getCurrentThreadUserTime()).isEqualTo(4242);
                else bean.getCurrentThreadUserTime();
            } catch (UnsatisfiedLinkError e) {
                // Of this JDK's own making: it has no such native.
                assertThat(e).hasMessageContaining("getThreadUserCpuTime9");
            }
            try {
                assertThat(bean.getThreadUserTime(id)).isPositive();
            } catch (UnsatisfiedLinkError e) {
                assertThat(e).hasMessageContaining("getThreadUserCpuTime9");
            }
            assertThat(bean.getThreadCpuTime(id)).isGreaterThan(before);
            // The rest works.
            for (int i = 0; i < 100; i++) Thread.yield();
            assertThat(YieldTest.yielder(Sample.bean(), "main").getYields()).isEqualTo(100);
        }
    }

    @Test
    void shouldLeaveYieldsOfUnknownVirtualThreads() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            // There are none, and so nothing is missing.
            Jvm.with("yield=count").run(YieldTest.Counted.class).silently();
            return;
        }
        Jvm jvm = on(
                Jvm.with("yield=count"),
                "java.base",
                renamed("tryYield", "tryYield9"),
                "java/lang/VirtualThread",
                "java/lang/Thread");
        assertLeftOut(
                jvm.run(NoYields.class),
                LEFT_OUT
                        + "virtual-yield: java.lang.VirtualThread.tryYield is not as expected: skipYield occurs 0 times");
    }

    @Test
    void shouldLeaveAccountsOfUnknownVirtualThreads() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            Jvm.with("yield=count").run(YieldTest.Counted.class).silently();
            return;
        }
        Jvm jvm = on(Jvm.with("yield=count"), "java.base", renamed("unmount", "unmount9"), "java/lang/VirtualThread");
        assertLeftOut(
                jvm.run(NoAccounts.class),
                LEFT_OUT
                        + "vthreads: java.lang.VirtualThread.runContinuation is not as expected: unmount occurs 0 times");
    }

    /** As a build of Project Loom had it: the field has another type. */
    @Test
    void shouldLeaveAccountsOfAnotherContinuation() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            Jvm.with("yield=count").run(YieldTest.Counted.class).silently();
            return;
        }
        Jvm jvm = on(
                Jvm.with("yield=count"),
                "java.base",
                typed("runContinuation", "Ljava/lang/Object;"),
                "java/lang/VirtualThread");
        assertLeftOut(
                jvm.run(NoAccounts.class), LEFT_OUT + "vthreads: VirtualThread.runContinuation is a java.lang.Object");
    }

    /** Another type for a field, and a cast where it is read. */
    private static UnaryOperator<byte[]> typed(String field, String descriptor) {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public FieldVisitor visitField(int access, String name, String type, String s, Object value) {
                return super.visitField(access, name, name.equals(field) ? descriptor : type, s, value);
            }

            @Override
            public MethodVisitor visitMethod(int access, String method, String type, String s, String[] e) {
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, method, type, s, e)) {
                    @Override
                    public void visitFieldInsn(int opcode, String owner, String name, String t) {
                        super.visitFieldInsn(opcode, owner, name, name.equals(field) ? descriptor : t);
                        if (name.equals(field) && opcode == Opcodes.GETFIELD) {
                            super.visitTypeInsn(Opcodes.CHECKCAST, "java/lang/Runnable");
                        }
                    }
                };
            }
        });
    }

    static final class NoAccounts {
        public static void main(String[] args) throws Exception {
            Thread virtual = (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Thread::yield);
            virtual.join();
            assertThat(Sample.bean().isAccountingVirtualThreads()).isFalse();
            assertThat(Sample.bean().getVirtualThreads()).isEmpty();
            // The rest works, for this class too.
            assertThat(Sample.bean().getYielders()).anyMatch(y -> y.getVirtualYields() == 1);
        }
    }

    static final class NoYields {
        public static void main(String[] args) throws Exception {
            Thread.yield();
            Thread virtual = (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Thread::yield);
            virtual.join();
            assertThat(Sample.bean().getYielders())
                    .allMatch(y -> y.getVirtualYields() == 0)
                    .anyMatch(y -> y.getYields() == 1);
            assertThat(Sample.bean().isAccountingVirtualThreads()).isTrue();
        }
    }

    @Test
    void shouldLeaveVirtualThreadsUnknownToTheBean() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            Jvm.with("yield=count").run(YieldTest.Counted.class).silently();
            return;
        }
        Jvm jvm = on(Jvm.with("virtual=mxbean"), "java.management", never("isVirtual"), "sun/management/ThreadImpl");
        assertLeftOut(
                jvm.run(Known.class),
                LEFT_OUT + "threadmxbean: sun.management.ThreadImpl.getCurrentThreadCpuTime is not as expected");
    }

    /** Puts "false" in place of calls of a method without arguments. */
    private static UnaryOperator<byte[]> never(String called) {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String type, String s, String[] e) {
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, method, type, s, e)) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String name, String t, boolean i) {
                        if (name.equals(called)) {
                            super.visitInsn(Opcodes.POP);
                            super.visitInsn(Opcodes.ICONST_0);
                        } else {
                            super.visitMethodInsn(opcode, owner, name, t, i);
                        }
                    }
                };
            }
        });
    }

    static final class Known {
        public static void main(String[] args) {
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on", "; left out: threadmxbean");
        }
    }

    /** Something more that a class of platform beans must be able to do. */
    private static UnaryOperator<byte[]> demanding() {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public void visitEnd() {
                super.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, "unknown9", "()V", null, null)
                        .visitEnd();
                super.visitEnd();
            }
        });
    }

    @Test
    void shouldLeaveTheBeanOfAnUnknownPlatform() throws IOException, InterruptedException {
        Jvm jvm = on(Jvm.with(""), "java.management", demanding(), "sun/management/spi/PlatformMBeanProvider");
        assertLeftOut(jvm.run(NoBean.class), LEFT_OUT + "bean: the platform's beans of this JVM are not as expected: ");
    }

    static final class NoBean {
        public static void main(String[] args) throws Exception {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on");
            assertThat(bean.getCurrentThreadCpuTime()).isPositive();
            assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(new ObjectName(TaskClockMXBean.NAME)))
                    .isFalse();
        }
    }

    // ---- a clock that is wrong

    /** An agent whose check of itself finds our CPU time five seconds too large. */
    private Path wrongAgent() throws IOException {
        Path wrong = directory.resolve("wrong.jar");
        try (JarFile jar = new JarFile(System.getProperty("agent.jar"));
                OutputStream out = Files.newOutputStream(wrong);
                JarOutputStream to = new JarOutputStream(out, jar.getManifest())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                if (entry.getName().equals(JarFile.MANIFEST_NAME)) continue;
                to.putNextEntry(new JarEntry(entry.getName()));
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                to.write(
                        entry.getName().endsWith("/ThreadTimes.class")
                                ? shifted().apply(bytes)
                                : bytes);
            }
        }
        return wrong;
    }

    private static UnaryOperator<byte[]> shifted() {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                MethodVisitor to = super.visitMethod(access, name, type, s, e);
                if (!name.equals("disagreement")) return to;
                return new MethodVisitor(Opcodes.ASM9, to) {
                    private Object asked;

                    @Override
                    public void visitLdcInsn(Object value) {
                        super.visitLdcInsn(value);
                        asked = value;
                    }

                    @Override
                    public void visitMethodInsn(int opcode, String owner, String called, String t, boolean i) {
                        super.visitMethodInsn(opcode, owner, called, t, i);
                        if (called.equals("longValue") && "cpuNanos".equals(asked)) {
                            super.visitLdcInsn(5_000_000_000L);
                            super.visitInsn(Opcodes.LADD);
                        }
                    }

                    @Override
                    public void visitMaxs(int stack, int locals) {
                        super.visitMaxs(stack + 4, locals);
                    }
                };
            }
        });
    }

    @Test
    void shouldGiveUpAClockThatDisagrees() throws IOException, InterruptedException {
        // The agent looks for its classes as the program does: not with these on the class path before its jar.
        String others = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("taskclock-agent.jar"))
                .filter(entry -> !Files.exists(Path.of(entry, "org", "taskclock", "agent", "Agent.class")))
                .collect(Collectors.joining(File.pathSeparator));
        Jvm jvm = Jvm.plain().option("-javaagent:" + wrongAgent()).classPath(others);
        assertLeftOut(
                jvm.run(ThreadTimesTest.Stock.class),
                LEFT_OUT + "threadmxbean: left as it is, as the clock and the JVM disagree: CPU time ");
    }

    // ---- other surroundings

    @Test
    void shouldRunTheProgramInSpiteOfWrongOptions() throws IOException, InterruptedException {
        for (String option : new String[] {"yield=sometimes", "nonsense", "yield=count,detach", "=", "threadmxbean"}) {
            assertLeftOut(Jvm.with(option).run(Failed.class), "taskclock: agent: option \"");
        }
    }

    @Test
    void shouldRunTheProgramWithoutItsLibrary() throws IOException, InterruptedException {
        assertLeftOut(Jvm.with("").option("-Djava.io.tmpdir=/nonexistent").run(Failed.class), "taskclock: agent: ");
    }

    /** Uses nothing but java.base. */
    static final class Failed {
        public static void main(String[] args) {
            String state = System.getProperty("taskclock.agent");
            if (!state.startsWith("failed: ")) throw new AssertionError(state);
        }
    }

    @Test
    void shouldRunTheProgramWithoutManagement() throws IOException, InterruptedException {
        Jvm jvm = Jvm.with("").option("--limit-modules", "java.base,java.instrument");
        Jvm.End end = jvm.run(Any.class);
        assertThat(end.exit()).as(end.toString()).isZero();
        assertThat(end.err().lines())
                .as(end.toString())
                .hasSizeLessThanOrEqualTo(2)
                .allMatch(l -> l.startsWith("taskclock: agent: "));
    }

    static final class Any {
        public static void main(String[] args) {
            Thread.yield();
        }
    }
}
