// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.taskclock.internal.JdkVersions;

/**
 * Runs the agent on JDKs with unexpected classes. The agent must log one line for each unavailable feature, and the
 * program must run.
 */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
class UnknownJdkTest {
    private static final String UNAVAILABLE = "taskclock: agent: unavailable: ";

    @TempDir
    Path directory;

    // ---- JDKs with other methods

    /** Renames a method and its calls. */
    private static UnaryOperator<byte[]> renameMethod(String from, String to) {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                String newName = name.equals(from) ? to : name;
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, newName, type, s, e)) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String called, String t, boolean i) {
                        super.visitMethodInsn(opcode, owner, called.equals(from) ? to : called, t, i);
                    }
                };
            }
        });
    }

    /** Replaces a native method that has a long parameter with a Java method that returns 4242. */
    private static UnaryOperator<byte[]> replaceNative(String method) {
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

    /** Makes the JVM use changed classes in a module. */
    private JvmLauncher patched(JvmLauncher jvm, String module, UnaryOperator<byte[]> change, String... classes)
            throws IOException {
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

    private static void assertOneMessage(JvmLauncher.Result result, String reason) {
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err().lines().filter(line -> !line.startsWith("WARNING: java.io.tmpdir")))
                .as(result.toString())
                .hasSize(1)
                .first()
                .asString()
                .contains(reason);
    }

    @Test
    void shouldSkipThreadMXBeanIfAMethodIsNotNative() throws IOException, InterruptedException {
        JvmLauncher jvm = patched(
                JvmLauncher.withAgent("yield=count"),
                "java.management",
                replaceNative("getThreadUserCpuTime0"),
                "sun/management/ThreadImpl");
        assertOneMessage(
                jvm.run(StockUserTime.class, "4242"),
                UNAVAILABLE + "threadmxbean: sun.management.ThreadImpl does not have the expected natives");
    }

    @Test
    void shouldSkipThreadMXBeanIfANativeIsRenamed() throws IOException, InterruptedException {
        UnaryOperator<byte[]> change = renameMethod("getThreadUserCpuTime0", "getThreadUserCpuTime9");
        JvmLauncher jvm =
                patched(JvmLauncher.withAgent("yield=count"), "java.management", change, "sun/management/ThreadImpl");
        assertOneMessage(jvm.run(StockUserTime.class, "none"), UNAVAILABLE + "threadmxbean: ");
    }

    static final class StockUserTime {
        public static void main(String[] args) throws Exception {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            assertThat(System.getProperty("taskclock.agent"))
                    .contains("threadmxbean=off,yield=count", "; unavailable: ");
            long before = bean.getCurrentThreadCpuTime();
            assertThat(before).isPositive();
            long id = Thread.currentThread().getId();
            if (args[0].equals("4242")) {
                assertThat(bean.getCurrentThreadUserTime()).isEqualTo(4242);
                if (!ThreadTimes.hasUserTimeBug())
                    assertThat(bean.getThreadUserTime(id)).isEqualTo(4242);
            } else {
                // The changed JDK itself throws this, because it has no such native method.
                List<ThrowingCallable> calls = new ArrayList<>(List.of(bean::getCurrentThreadUserTime));
                if (!ThreadTimes.hasUserTimeBug()) calls.add(() -> bean.getThreadUserTime(id));
                for (ThrowingCallable call : calls) {
                    assertThatThrownBy(call)
                            .isInstanceOf(UnsatisfiedLinkError.class)
                            .hasMessageContaining("getThreadUserCpuTime9");
                }
            }
            assertThat(bean.getThreadCpuTime(id)).isGreaterThan(before);
            // The other features work.
            for (int i = 0; i < 100; i++) Thread.yield();
            assertThat(YieldTest.yielder(AgentCheck.bean(), "main").getYields()).isEqualTo(100);
        }
    }

    @Test
    void shouldSkipVirtualYieldsIfAMethodIsRenamed() throws IOException, InterruptedException {
        assertSkipped(
                "virtual-yield: java.lang.VirtualThread.tryYield is not as expected: skipYield occurs 0 times",
                NoYields.class,
                renameMethod("tryYield", "tryYield9"),
                "java/lang/VirtualThread",
                "java/lang/Thread");
    }

    @Test
    void shouldSkipAccountsIfAMethodIsRenamed() throws IOException, InterruptedException {
        assertSkipped(
                "vthreads: java.lang.VirtualThread.runContinuation is not as expected: unmount occurs 0 times",
                NoAccounts.class,
                renameMethod("unmount", "unmount9"),
                "java/lang/VirtualThread");
    }

    /** The field has another type, as in a build of Project Loom. */
    @Test
    void shouldSkipAccountsIfAFieldHasAnotherType() throws IOException, InterruptedException {
        assertSkipped(
                "vthreads: VirtualThread.runContinuation has type java.lang.Object",
                NoAccounts.class,
                changeType("runContinuation", "Ljava/lang/Object;"),
                "java/lang/VirtualThread");
    }

    /** Asserts that the agent skips a feature on a JDK with changed classes, and that the program runs. */
    private void assertSkipped(String reason, Class<?> program, UnaryOperator<byte[]> change, String... classes)
            throws IOException, InterruptedException {
        JvmLauncher jvm = JvmLauncher.withAgent("yield=count");
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            // This JDK has no virtual threads, so there is nothing to skip.
            jvm.run(YieldTest.Counted.class).assertSilent();
        } else {
            assertOneMessage(patched(jvm, "java.base", change, classes).run(program), UNAVAILABLE + reason);
        }
    }

    /** Changes the type of a field, and adds casts where it is read. */
    private static UnaryOperator<byte[]> changeType(String field, String descriptor) {
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
            VirtualThreadStarter.start("", Thread::yield).join();
            assertThat(AgentCheck.bean().isVirtualThreadAccounting()).isFalse();
            assertThat(AgentCheck.bean().getVirtualThreads()).isEmpty();
            // The other features work, including the one that uses the same class.
            assertThat(AgentCheck.bean().getYielders()).anyMatch(y -> y.getVirtualYields() == 1);
        }
    }

    static final class NoYields {
        public static void main(String[] args) throws Exception {
            Thread.yield();
            VirtualThreadStarter.start("", Thread::yield).join();
            assertThat(AgentCheck.bean().getYielders())
                    .allMatch(y -> y.getVirtualYields() == 0)
                    .anyMatch(y -> y.getYields() == 1);
            assertThat(AgentCheck.bean().isVirtualThreadAccounting()).isTrue();
        }
    }

    @Test
    void shouldSkipVirtualThreadTimesIfACallIsMissing() throws IOException, InterruptedException {
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            JvmLauncher.withAgent("yield=count").run(YieldTest.Counted.class).assertSilent();
            return;
        }
        JvmLauncher jvm = patched(
                JvmLauncher.withAgent("virtual=mxbean"),
                "java.management",
                replaceCallsByFalse("isVirtual"),
                "sun/management/ThreadImpl");
        assertOneMessage(
                jvm.run(NoVirtualThreadTimes.class),
                UNAVAILABLE + "threadmxbean: sun.management.ThreadImpl.getCurrentThreadCpuTime is not as expected");
    }

    /** Replaces calls to a method without parameters with the constant false. */
    private static UnaryOperator<byte[]> replaceCallsByFalse(String called) {
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

    static final class NoVirtualThreadTimes {
        public static void main(String[] args) {
            assertThat(System.getProperty("taskclock.agent"))
                    .contains("threadmxbean=on", "; unavailable: threadmxbean");
        }
    }

    /** Adds an abstract method. */
    private static UnaryOperator<byte[]> addAbstractMethod() {
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
    void shouldSkipTheBeanIfTheServiceHasAnotherMethod() throws IOException, InterruptedException {
        JvmLauncher jvm = patched(
                JvmLauncher.withAgent(""),
                "java.management",
                addAbstractMethod(),
                "sun/management/spi/PlatformMBeanProvider");
        assertOneMessage(
                jvm.run(NoBean.class), UNAVAILABLE + "bean: the platform beans of this JVM are not as expected: ");
    }

    static final class NoBean {
        public static void main(String[] args) throws Exception {
            AgentCheck.awaitDeferredFeatures();
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on");
            assertThat(bean.getCurrentThreadCpuTime()).isPositive();
            assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(new ObjectName(TaskClockMXBean.NAME)))
                    .isFalse();
        }
    }

    // ---- a wrong clock

    /** By how much the clock is wrong, in ns; five seconds if not set. */
    private static final String ERROR = "test.error";

    /** Creates an agent whose check after installation reads a CPU time that is too high. */
    private Path agentWithWrongTime() throws IOException {
        Path changed = directory.resolve("wrong.jar");
        try (JarFile jar = new JarFile(System.getProperty("agent.jar"));
                OutputStream out = Files.newOutputStream(changed);
                JarOutputStream jarOut = new JarOutputStream(out, jar.getManifest())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                if (entry.getName().equals(JarFile.MANIFEST_NAME)) continue;
                jarOut.putNextEntry(new JarEntry(entry.getName()));
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                jarOut.write(
                        entry.getName().endsWith("/ThreadTimes.class")
                                ? addToCpuNanos().apply(bytes)
                                : bytes);
            }
        }
        return changed;
    }

    private static UnaryOperator<byte[]> addToCpuNanos() {
        return changed(visitor -> new ClassVisitor(Opcodes.ASM9, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                MethodVisitor next = super.visitMethod(access, name, type, s, e);
                if (!name.equals("disagreement")) return next;
                return new MethodVisitor(Opcodes.ASM9, next) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String called, String t, boolean i) {
                        super.visitMethodInsn(opcode, owner, called, t, i);
                        if (called.equals("cpuNanos")) {
                            super.visitLdcInsn(ERROR);
                            super.visitLdcInsn(5_000_000_000L);
                            super.visitMethodInsn(
                                    Opcodes.INVOKESTATIC,
                                    "java/lang/Long",
                                    "getLong",
                                    "(Ljava/lang/String;J)Ljava/lang/Long;",
                                    false);
                            super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Long", "longValue", "()J", false);
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

    /** The JVM loads the agent's class from the class path, which must not contain it ahead of a changed jar. */
    static String classPathWithoutAgent() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("taskclock-agent.jar"))
                .filter(entry -> !Files.exists(Path.of(entry, "org", "taskclock", "agent", "Agent.class")))
                .collect(Collectors.joining(File.pathSeparator));
    }

    @Test
    void shouldSkipThreadMXBeanIfTheClockDisagrees() throws IOException, InterruptedException {
        JvmLauncher jvm = JvmLauncher.withoutAgent()
                .option("-javaagent:" + agentWithWrongTime())
                .classPath(classPathWithoutAgent());
        assertOneMessage(jvm.run(ThreadTimesTest.StockTimes.class), DISAGREEMENT);
    }

    private static final String DISAGREEMENT =
            UNAVAILABLE + "threadmxbean: not installed, because the clock and the JVM disagree: CPU time ";

    @Test
    void shouldNotLetTimesGoBackwardsIfTheClockDisagreesLater() throws IOException, InterruptedException {
        JvmLauncher jvm = JvmLauncher.withoutAgent()
                .option("-Dagent.jar=" + agentWithWrongTime(), "-D" + ERROR + "=0")
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .classPath(classPathWithoutAgent());
        assertOneMessage(jvm.run(WrongLater.class), DISAGREEMENT);
    }

    /** The clock is right when the agent is first attached, and wrong when it is attached again. */
    static final class WrongLater {
        private static final int THREADS = 8;

        @SuppressWarnings("deprecation") // threadId() came with JDK 19
        public static void main(String[] args) throws Exception {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            self.loadAgent(System.getProperty("agent.jar"), "");
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on");
            long[] ids = new long[THREADS];
            long[] users = new long[THREADS];
            CountDownLatch read = new CountDownLatch(THREADS);
            CountDownLatch end = new CountDownLatch(1);
            for (int i = 0; i < THREADS; i++) {
                int own = i;
                Thread thread = new Thread(() -> {
                    // The JVM's answer is up to 10 ms less.
                    while (users[own] < 15_000_000 || users[own] % 10_000_000 < 5_000_000)
                        users[own] = bean.getCurrentThreadUserTime();
                    read.countDown();
                    awaitUninterruptibly(end);
                });
                thread.setDaemon(true);
                thread.start();
                ids[i] = thread.getId();
            }
            read.await();
            self.loadAgent(System.getProperty("agent.jar"), "detach");
            System.clearProperty(ERROR);
            self.loadAgent(System.getProperty("agent.jar"), "");
            self.detach();
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=off", "disagree");
            for (int i = 0; i < THREADS; i++)
                assertThat(bean.getThreadUserTime(ids[i])).isGreaterThanOrEqualTo(users[i]);
            end.countDown();
        }

        private static void awaitUninterruptibly(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    // ---- failed starts

    @Test
    void shouldRunTheProgramDespiteWrongOptions() throws IOException, InterruptedException {
        for (String option : new String[] {"yield=sometimes", "nonsense", "yield=count,detach", "=", "threadmxbean"}) {
            assertOneMessage(JvmLauncher.withAgent(option).run(FailedAgent.class), "taskclock: agent: option \"");
        }
    }

    @Test
    void shouldRunTheProgramWithoutItsLibrary() throws IOException, InterruptedException {
        assertOneMessage(
                JvmLauncher.withAgent("")
                        .option("-Djava.io.tmpdir=/nonexistent")
                        .run(FailedAgent.class),
                "taskclock: agent: cannot extract the native library into /nonexistent: ");
    }

    /** Uses only java.base. */
    static final class FailedAgent {
        public static void main(String[] args) {
            String state = System.getProperty("taskclock.agent");
            if (!state.startsWith("failed: ")) throw new AssertionError(state);
        }
    }

    @Test
    void shouldRunTheProgramWithoutManagement() throws IOException, InterruptedException {
        JvmLauncher jvm = JvmLauncher.withAgent("").option("--limit-modules", "java.base,java.instrument");
        JvmLauncher.Result result = jvm.run(SingleYield.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err().lines())
                .as(result.toString())
                .containsExactlyInAnyOrder(
                        UNAVAILABLE + "threadmxbean: this JVM has no sun.management.ThreadImpl:"
                                + " is the module java.management missing?",
                        UNAVAILABLE + "bean: this JVM has no module java.management");
    }

    /** Uses only java.base. */
    static final class SingleYield {
        public static void main(String[] args) throws InterruptedException {
            while (!System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
            Thread.yield();
        }
    }
}
