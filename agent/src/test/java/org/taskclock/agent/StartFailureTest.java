// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarFile;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.taskclock.internal.JdkVersions;

/** Checks that the program starts, and that the agent can be used later, whatever fails while it is installed. */
class StartFailureTest {
    @TempDir
    Path directory;

    static final class Program {
        public static void main(String[] args) {
            System.out.println("started");
        }
    }

    // ---- -javaagent

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org/taskclock/agent/Agent#load",
                "org/taskclock/agent/AgentController#apply",
                "org/taskclock/agent/AgentController#apply,org/taskclock/agent/Agent#failed",
                "org/taskclock/agent/AgentController#apply,system"
            })
    void shouldStartTheProgramWhateverFails(String faults) throws IOException, InterruptedException {
        String ours = "-javaagent:" + System.getProperty("agent.jar");
        JvmLauncher.Result result = JvmLauncher.withoutAgent()
                .option(FaultInjector.option(directory, faults), ours, "-D" + FaultInjector.SWITCH + "=on")
                .run(Program.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.out()).isEqualTo("started\n");
        assertThat(result.err())
                .isEqualTo(
                        faults.contains("failed") || faults.contains("system")
                                ? ""
                                : "taskclock: agent: java.lang.OutOfMemoryError: injected\n");
    }

    // ---- the security manager of JDK 17 to 23

    private static final String NO_SECURITY_MANAGER = "this JDK has no security manager";

    /** A program without permissions. */
    static final class Restricted {
        public static void main(String[] args) {
            System.out.println(System.getProperty("taskclock.agent"));
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long end = System.nanoTime() + 10_000_000_000L;
            boolean isFromClock = false;
            // The JVM's own user times are multiples of 10 ms.
            while (!isFromClock && System.nanoTime() < end)
                isFromClock = bean.getCurrentThreadUserTime() % 10_000_000 != 0;
            System.out.println(isFromClock ? "from the clock" : "from the JVM");
            Thread other = new Thread(LockSupport::park);
            other.setDaemon(true);
            other.start();
            System.out.println(bean.getThreadUserTime(other.getId()) >= 0 ? "another thread" : "unknown");
        }
    }

    private JvmLauncher.Result runWithPolicy(String agentPermissions) throws IOException, InterruptedException {
        Path policy = Files.writeString(
                directory.resolve("policy"),
                "grant { permission java.util.PropertyPermission \"taskclock.agent\", \"read\"; };\n"
                        + agentPermissions);
        JvmLauncher.Result result = JvmLauncher.withAgent("")
                .option("-Djava.security.manager", "-Djava.security.policy==" + policy)
                .run(Restricted.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        return result;
    }

    private static List<String> withoutWarnings(String err) {
        return err.lines().filter(line -> !line.startsWith("WARNING: ")).toList();
    }

    @Test
    @EnabledForJreRange(maxVersion = JdkVersions.NO_SECURITY_MANAGER - 1, disabledReason = NO_SECURITY_MANAGER)
    void shouldStartTheProgramUnderASecurityManager() throws IOException, InterruptedException {
        JvmLauncher.Result result = runWithPolicy("");
        assertThat(result.out()).isEqualTo("null\nfrom the JVM\nanother thread\n");
        assertThat(withoutWarnings(result.err()))
                .singleElement()
                .asString()
                .startsWith("taskclock: agent: access denied (")
                .endsWith(": the security manager restricts the agent: add to the policy:"
                        + " grant codeBase \"file:/path/to/taskclock-agent.jar\""
                        + " { permission java.security.AllPermission; };");
    }

    @Test
    @EnabledForJreRange(maxVersion = JdkVersions.NO_SECURITY_MANAGER - 1, disabledReason = NO_SECURITY_MANAGER)
    void shouldWorkIfThePolicyAllowsIt() throws IOException, InterruptedException {
        JvmLauncher.Result result = runWithPolicy("grant codeBase \"file:" + System.getProperty("agent.jar")
                + "\" { permission java.security.AllPermission; };");
        assertThat(withoutWarnings(result.err())).as(result.toString()).isEmpty();
        assertThat(result.out())
                .contains("threadmxbean=on", "from the clock", "another thread")
                .doesNotContain("unavailable", "from the JVM");
    }

    // ---- a failure that passes

    private JvmLauncher attachable(String faults) throws IOException {
        return JvmLauncher.withoutAgent()
                .option(FaultInjector.option(directory, faults), "-Dagent.jar=" + System.getProperty("agent.jar"))
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading");
    }

    /** Attaches while a fault is injected, and again. Returns the state after the first attempt. */
    private static String attachTwice(String options) throws Exception {
        return attachTwice(options, () -> {});
    }

    private static String attachTwice(String options, Runnable between) throws Exception {
        VirtualMachine self =
                VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
        System.setProperty(FaultInjector.SWITCH, "on");
        self.loadAgent(System.getProperty("agent.jar"), options);
        String first = System.getProperty("taskclock.agent");
        System.clearProperty(FaultInjector.SWITCH);
        between.run();
        self.loadAgent(System.getProperty("agent.jar"), options);
        self.detach();
        assertThat(System.getProperty("taskclock.agent")).doesNotContain("unavailable", "failed");
        AgentCheck.main(new String[] {AgentCheck.ATTACHED});
        return first;
    }

    @Test
    @EnabledForJreRange(minVersion = JdkVersions.VIRTUAL_THREADS, disabledReason = "this JDK has no virtual threads")
    void shouldPrepareAccountsAgainAfterAFailure() throws IOException, InterruptedException {
        JvmLauncher.Result result =
                attachable("java/lang/TaskClockAccount#unmount").run(AccountsPreparedTwice.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: vthreads: cannot prepare the accounts of virtual threads:"
                        + " java.lang.OutOfMemoryError: injected\n");
    }

    static final class AccountsPreparedTwice {
        public static void main(String[] args) throws Exception {
            VirtualThreadStarter.start("", () -> {}).join();
            assertThat(attachTwice("yield=count")).contains("threadmxbean=on", "vthreads=off");
        }
    }

    /** The second one fails when the natives are replaced, but the agent does not know it yet. */
    private static final String[] TIMES_FAULTS = {
        "org/taskclock/agent/ThreadTimes#disagreement", "java/lang/TaskClockHooks#takeTimes@end"
    };

    static String[] timesFaults() {
        return TIMES_FAULTS;
    }

    /** The agent restores what it is not sure of, and installs the other features. */
    @ParameterizedTest
    @MethodSource("timesFaults")
    void shouldRestoreAFeatureWhoseInstallationFails(String fault) throws IOException, InterruptedException {
        JvmLauncher.Result result = attachable(fault).run(ThreadTimesInstalledTwice.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: threadmxbean: java.lang.OutOfMemoryError: injected\n");
    }

    static final class ThreadTimesInstalledTwice {
        public static void main(String[] args) throws Exception {
            assertThat(attachTwice("yield=count", StartFailureTest::assertTimesOfTheJvm))
                    .contains("threadmxbean=off", "yield=count");
        }
    }

    /** Recognizes the JVM's own user times by their resolution. */
    private static void assertTimesOfTheJvm() {
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        if (!ThreadTimes.isTextInThisJdk()) return;
        for (int i = 0; i < 1_000; i++)
            assertThat(bean.getCurrentThreadUserTime() % 10_000_000).isZero();
    }

    /** Changes through the bean are made completely or not at all, too. */
    @ParameterizedTest
    @MethodSource("timesFaults")
    void shouldRestoreAFeatureThatTheBeanFailsToSwitchOn(String fault) throws IOException, InterruptedException {
        attachable(fault).run(SwitchedOn.class).assertSilent();
    }

    static final class SwitchedOn {
        public static void main(String[] args) throws Exception {
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            self.loadAgent(System.getProperty("agent.jar"), "threadmxbean=off");
            TaskClockMXBean bean = AgentCheck.bean();
            assertFails(() -> bean.setThreadMXBeanReplaced(true));
            bean.setThreadMXBeanReplaced(true);
            assertThat(bean.isThreadMXBeanReplaced()).isTrue();
            bean.setEnabled(false);
            assertFails(() -> bean.setEnabled(true));
            assertThat(bean.isEnabled()).isTrue();
            self.detach();
        }

        private static void assertFails(ThrowingCallable change) {
            System.setProperty(FaultInjector.SWITCH, "on");
            assertThatThrownBy(change).hasStackTraceContaining("java.lang.OutOfMemoryError: injected");
            System.clearProperty(FaultInjector.SWITCH);
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=off");
        }
    }

    /** The hooks are defined, and their instance is lost. */
    @Test
    void shouldStartAgainAfterAFailure() throws IOException, InterruptedException {
        JvmLauncher.Result result =
                attachable("java/lang/TaskClockHooks#setController").run(StartedTwice.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err()).isEqualTo("taskclock: agent: java.lang.OutOfMemoryError: injected\n");
    }

    static final class StartedTwice {
        public static void main(String[] args) throws Exception {
            assertThat(attachTwice("yield=count")).startsWith("failed: ");
        }
    }

    // ---- initializers: if one fails, its class cannot be used until the JVM restarts

    @ParameterizedTest
    @ValueSource(strings = {"TaskClockAccount", "TaskClockGroup", "TaskClockCalls", "TaskClockProbe"})
    void shouldAllocateNothingWhenItsClassesAreInitialized(String name) throws IOException {
        List<String> found = new ArrayList<>();
        try (JarFile jar = new JarFile(System.getProperty("agent.jar"))) {
            byte[] bytes = jar.getInputStream(jar.getEntry(AgentLoader.HIDDEN + "java/lang/" + name + ".class"))
                    .readAllBytes();
            new ClassReader(bytes).accept(new Initializer(found), 0);
        }
        assertThat(found).isEmpty();
    }

    /** Collects what a class does when it is initialized, except for calls to Unsafe, which do not allocate. */
    private static final class Initializer extends ClassVisitor {
        private final List<String> found;

        Initializer(List<String> found) {
            super(Opcodes.ASM9);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String type, String s, String[] e) {
            if (!method.equals("<clinit>")) return null;
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitTypeInsn(int opcode, String created) {
                    found.add(created);
                }

                @Override
                public void visitIntInsn(int opcode, int operand) {
                    if (opcode == Opcodes.NEWARRAY) found.add("array");
                }

                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String t, boolean i) {
                    if (!owner.equals("jdk/internal/misc/Unsafe")) found.add(called);
                }

                @Override
                public void visitInvokeDynamicInsn(String called, String t, Handle bootstrap, Object... a) {
                    found.add(called);
                }
            };
        }
    }

    /** Mounts keep calling the clock through JNI. */
    @Test
    @EnabledForJreRange(minVersion = JdkVersions.FOREIGN_FUNCTIONS, disabledReason = "this JDK does not link calls")
    void shouldAccountForVirtualThreadsIfTheCallsCannotBeLinked() throws IOException, InterruptedException {
        attachable("java/lang/TaskClockCalls$Critical#<clinit>")
                .option("-D" + FaultInjector.SWITCH + "=on")
                .run(Unlinked.class)
                .assertSilent();
    }

    static final class Unlinked {
        public static void main(String[] args) throws Exception {
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            self.loadAgent(System.getProperty("agent.jar"), "yield=count");
            self.detach();
            VirtualThreadStarter.start("first", () -> {}).join();
            TaskClockMXBean bean = AgentCheck.bean();
            long end = System.nanoTime() + 10_000_000_000L;
            while (bean.getFailures() == 0) {
                assertThat(System.nanoTime() - end).isNegative();
                Thread.sleep(10);
            }
            assertThat(bean.getLastFailure()).startsWith("link: ");
            AgentCheck.main(new String[] {AgentCheck.ATTACHED});
        }
    }
}
