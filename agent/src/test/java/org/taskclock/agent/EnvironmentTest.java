// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.taskclock.internal.JdkVersions;

/** Runs the agent in JVMs of many kinds and in restricted environments. */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
class EnvironmentTest {
    @TempDir
    Path directory;

    private static JvmLauncher counting() {
        return JvmLauncher.withAgent("yield=count");
    }

    // ---- kinds of JVMs

    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
    void shouldWorkWithEachCollector(String name) throws IOException, InterruptedException {
        String option = "-XX:+Use" + name + "GC";
        assumeTrue(
                JvmLauncher.withoutAgent().option(option).run(Empty.class).exit() == 0,
                "this JVM does not have the garbage collector " + name);
        counting().option(option, "-Xmx96m").run(AgentCheck.class).assertSilent();
    }

    static final class Empty {
        public static void main(String[] args) {}
    }

    /** Creates a jar with the test programs, because class archives do not include classes from directories. */
    private Path programJar() throws IOException {
        Path jar = directory.resolve("program.jar");
        Path classes = programClasses();
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream jarOut = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                jarOut.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, jarOut);
            }
        }
        return jar;
    }

    @Test
    void shouldPassTheJniChecks() throws IOException, InterruptedException {
        JvmLauncher.Result result = counting().option("-Xcheck:jni").run(AgentCheck.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        // The JVM's own libraries do not pass all checks. The line after a warning names the native.
        List<String> lines = result.out().lines().collect(Collectors.toList());
        for (int i = 0; i + 1 < lines.size(); i++) {
            if (!lines.get(i).startsWith("WARNING")) continue;
            assertThat(lines.get(i + 1))
                    .as(lines.get(i))
                    .startsWith("\tat ")
                    .doesNotContain("TaskClock", "sun.management.ThreadImpl", "java.lang.Thread.yield");
        }
        assertThat(result.out()).doesNotContain("FATAL");
    }

    @Test
    void shouldWorkWithAClassArchive() throws IOException, InterruptedException {
        Path jar = programJar();
        Path archive = directory.resolve("archive.jsa");
        createArchive(JvmLauncher.withoutAgent(), jar, "-XX:ArchiveClassesAtExit=", archive);
        assertLoadsFromArchive(jar, "-XX:SharedArchiveFile=", archive, "shared objects file (top)");
    }

    /**
     * The JVM rejects a cache that was created without an agent and prints a message. A cache that was created with the
     * agent works.
     */
    @Test
    @EnabledForJreRange(
            minVersion = JdkVersions.AOT_CACHE_OUTPUT,
            disabledReason = "this JDK does not create an ahead-of-time cache in one step")
    void shouldWorkWithAnAheadOfTimeCache() throws IOException, InterruptedException {
        Path jar = programJar();
        Path without = directory.resolve("without.aot");
        createArchive(JvmLauncher.withoutAgent(), jar, "-XX:AOTCacheOutput=", without);
        JvmLauncher.Result result = counting()
                .classPath(jar.toString())
                .option("-XX:AOTCache=" + without)
                .run(AgentCheck.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.out())
                .contains("[error][aot]", "java.instrument specified during runtime but not during dump time");

        Path with = directory.resolve("with.aot");
        // Without accounting for virtual threads, because a changed JDK class cannot be archived.
        createArchive(JvmLauncher.withAgent("vthreads=off"), jar, "-XX:AOTCacheOutput=", with);
        assertLoadsFromArchive(jar, "-XX:AOTCache=", with, "shared objects file");
    }

    /** Loads the classes to archive. */
    static final class TrainingRun {
        public static void main(String[] args) throws ClassNotFoundException {
            Class.forName(AgentCheck.class.getName());
        }
    }

    private static void createArchive(JvmLauncher jvm, Path jar, String option, Path archive)
            throws IOException, InterruptedException {
        JvmLauncher.Result result =
                jvm.classPath(jar.toString()).option(option + archive).run(TrainingRun.class);
        assertThat(archive).as(result.toString()).isNotEmptyFile();
    }

    /** Runs the agent check with an archive, and asserts that its class is loaded from the archive. */
    private void assertLoadsFromArchive(Path jar, String option, Path archive, String source)
            throws IOException, InterruptedException {
        Path loaded = directory.resolve("loaded");
        counting()
                .classPath(jar.toString())
                .option(option + archive, "-Xlog:class+load:file=" + loaded)
                .run(AgentCheck.class)
                .assertSilent();
        assertThat(loaded).content().contains(AgentCheck.class.getName() + " source: " + source);
    }

    // ---- class loaders of the program

    /** Returns a directory with the test programs and nothing else. */
    private Path programClasses() throws IOException {
        Path classes = Files.createDirectories(directory.resolve("program/org/taskclock/agent"));
        for (Class<?> type : List.of(AgentCheck.class, TrainingRun.class, ClassVisibility.class, Yielding.class)) {
            String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
            try (InputStream in = type.getResourceAsStream(file)) {
                Files.copy(in, classes.resolve(file));
            }
        }
        return directory.resolve("program");
    }

    @Test
    void shouldHideThirdPartyClassesFromTheProgram() throws IOException, InterruptedException {
        counting()
                .classPath(programClasses().toString())
                .run(ClassVisibility.class)
                .assertSilent();
    }

    static final class ClassVisibility {
        public static void main(String[] args) throws Exception {
            AgentCheck.main(args);
            for (String name : new String[] {"org.objectweb.asm.ClassReader", "org.taskclock.TaskClock"}) {
                for (ClassLoader loader : new ClassLoader[] {ClassLoader.getSystemClassLoader(), null}) {
                    try {
                        throw new AssertionError("visible: " + Class.forName(name, false, loader));
                    } catch (ClassNotFoundException e) {
                        // expected
                    }
                }
            }
        }
    }

    /**
     * Creates a copy of the clock in another package. The package name has the same length, because class files store
     * the length of each name.
     */
    private Path shadedClock() throws IOException {
        Path shaded = directory.resolve("shaded.jar");
        try (JarFile jar = new JarFile(System.getProperty("clock.jar"));
                OutputStream out = Files.newOutputStream(shaded);
                JarOutputStream jarOut = new JarOutputStream(out, jar.getManifest())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (entry.isDirectory() || name.equals(JarFile.MANIFEST_NAME)) continue;
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                jarOut.putNextEntry(new JarEntry(relocate(name)));
                boolean isClass = name.endsWith(".class");
                Charset latin = StandardCharsets.ISO_8859_1;
                jarOut.write(isClass ? relocate(new String(bytes, latin)).getBytes(latin) : bytes);
            }
        }
        return shaded;
    }

    private static String relocate(String text) {
        return text.replace("org/taskclock", "our/itsclocks").replace("org.taskclock", "our.itsclocks");
    }

    @Test
    void shouldShareStateWithCopiesOfTheClockInTheProgram() throws IOException, InterruptedException {
        counting()
                .option("-Dclock.jar=" + System.getProperty("clock.jar"), "-Dshaded.jar=" + shadedClock())
                .option(
                        JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS
                                ? "--enable-native-access=ALL-UNNAMED"
                                : "-Dnothing=")
                .run(Copies.class)
                .assertSilent();
    }

    /** A program with a copy of the clock on its class path, which also loads and unloads two more copies. */
    static final class Copies {
        public static void main(String[] args) throws Exception {
            assertAgrees(org.taskclock.TaskClock.class);
            for (int i = 0; i < 3; i++) {
                assertUnloads(System.getProperty("clock.jar"), "org.taskclock.TaskClock");
                assertUnloads(System.getProperty("shaded.jar"), "our.itsclocks.TaskClock");
            }
            AgentCheck.main(args);
            assertAgrees(org.taskclock.TaskClock.class);

            TaskClockMXBean bean = AgentCheck.bean();
            String backend = bean.getBackend();
            bean.setEnabled(false);
            assertThat(bean.getBackend()).isEqualTo("mxbean");
            assertThat(org.taskclock.TaskClock.cpuNanos())
                    .isLessThan(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
            // The switch is off for a copy that is loaded now, too.
            try (URLClassLoader loader = isolatedLoader(System.getProperty("clock.jar"))) {
                assertThat(backend(loader.loadClass("org.taskclock.TaskClock"))).isEqualTo("syscall");
                assertThat(backend(org.taskclock.TaskClock.class)).isEqualTo("syscall");
                bean.setEnabled(true);
                assertThat(backend(org.taskclock.TaskClock.class)).isEqualTo(backend);
                assertThat(backend(loader.loadClass("org.taskclock.TaskClock"))).isEqualTo(backend);
            }
            assertThat(bean.getBackend()).isEqualTo(backend);
            assertAgrees(org.taskclock.TaskClock.class);
        }

        private static String backend(Class<?> clock) throws Exception {
            Object status = clock.getMethod("status").invoke(null);
            return status.getClass().getMethod("backend").invoke(status).toString();
        }

        private static void assertAgrees(Class<?> clock) throws Exception {
            Object status = clock.getMethod("status").invoke(null);
            Object state = status.getClass().getMethod("state").invoke(status);
            assertThat(state).asString().startsWith("shared with an earlier copy in this process");
            Method cpuNanos = clock.getMethod("cpuNanos");
            Method userNanos = clock.getMethod("userNanos");
            com.sun.management.ThreadMXBean bean =
                    (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            for (int i = 0; i < 1_000; i++) {
                long cpu = (long) cpuNanos.invoke(null);
                long user = bean.getCurrentThreadUserTime();
                assertThat(bean.getCurrentThreadCpuTime()).isGreaterThanOrEqualTo(cpu);
                assertThat((long) userNanos.invoke(null)).isGreaterThanOrEqualTo(user);
            }
        }

        private static void assertUnloads(String jar, String name) throws Exception {
            assertIsUnloaded(useCopy(jar, name));
        }

        private static WeakReference<Class<?>> useCopy(String jar, String name) throws Exception {
            try (URLClassLoader loader = isolatedLoader(jar)) {
                Class<?> clock = loader.loadClass(name);
                assertThat(clock.getClassLoader()).isSameAs(loader);
                assertAgrees(clock);
                return new WeakReference<>(clock);
            }
        }
    }

    /** Returns a class loader that finds only the classes at this path and those of the JDK. */
    private static URLClassLoader isolatedLoader(String path) throws IOException {
        URL[] urls = {Path.of(path).toUri().toURL()};
        return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    private static void assertIsUnloaded(WeakReference<Class<?>> type) throws InterruptedException {
        for (int i = 0; i < 100 && type.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertThat(type.get()).as("the class must have been unloaded").isNull();
    }

    @Test
    void shouldNotPreventUnloadingOfClassesThatYielded() throws IOException, InterruptedException {
        counting().option("-Dprogram=" + programClasses()).run(Unloading.class).assertSilent();
    }

    static final class Unloading {
        public static void main(String[] args) throws Exception {
            for (int i = 0; i < 5; i++) assertIsUnloaded(runYieldingClass());
            assertThat(AgentCheck.bean().getYieldSites())
                    .extracting(TaskClockMXBean.YieldSite::getSite)
                    .anyMatch(site -> site.contains("Yielding.run"));
        }

        private static WeakReference<Class<?>> runYieldingClass() throws Exception {
            try (URLClassLoader loader = isolatedLoader(System.getProperty("program"))) {
                Class<?> type = loader.loadClass(Yielding.class.getName());
                assertThat(type.getClassLoader()).isSameAs(loader);
                Thread thread = new Thread((Runnable) type.getConstructor().newInstance());
                thread.start();
                thread.join();
                return new WeakReference<>(type);
            }
        }
    }

    public static final class Yielding implements Runnable {
        @Override
        public void run() {
            for (int i = 0; i < 10_000; i++) Thread.yield();
        }
    }

    // ---- restricted environments

    /** Creates a directory with the two native libraries, as the documentation describes. */
    private Path libraries() throws IOException {
        Path libraries = Files.createDirectory(directory.resolve("libraries"));
        try (JarFile jar = new JarFile(System.getProperty("agent.jar"))) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (!name.endsWith(".so")) continue;
                try (InputStream in = jar.getInputStream(entry)) {
                    Files.copy(in, libraries.resolve(name.substring(name.lastIndexOf('/') + 1)));
                }
            }
        }
        return libraries;
    }

    @Test
    void shouldWorkIfNothingCanBeWritten() throws IOException, InterruptedException {
        // No file can be created in /proc.
        assertRequiresLibraryPath(counting().option("-Djava.io.tmpdir=/proc", "-XX:-UsePerfData"));
    }

    @Test
    void shouldWorkIfTmpIsMountedNoexec() throws IOException, InterruptedException {
        String[] mount = {
            "unshare", "--mount", "--map-root-user", "sh", "-c", "mount -t tmpfs -o noexec tmpfs \"$0\" && exec \"$@\""
        };
        Path noexec = Files.createDirectory(directory.resolve("noexec"));
        List<String> wrapper =
                Stream.concat(Stream.of(mount), Stream.of(noexec.toString())).collect(Collectors.toList());
        assumeTrue(
                JvmLauncher.withoutAgent().wrappedBy(wrapper).run(Empty.class).exit() == 0,
                "this machine does not allow mounting a file system");
        assertRequiresLibraryPath(
                counting().option("-Djava.io.tmpdir=" + noexec).wrappedBy(wrapper));
    }

    /** Asserts that the agent's message names the property for the path of the libraries, and that setting it helps. */
    private void assertRequiresLibraryPath(JvmLauncher jvm) throws IOException, InterruptedException {
        JvmLauncher.Result result = jvm.run(Empty.class);
        assertThat(result.exit()).isZero();
        assertThat(result.err().lines())
                .as(result.toString())
                .singleElement()
                .asString()
                .startsWith("taskclock: agent: ")
                .contains("taskclock.library.path");
        jvm.option("-Dtaskclock.library.path=" + libraries())
                .run(AgentCheck.class)
                .assertSilent();
    }

    @Test
    void shouldWorkForAnUnprivilegedUser() throws IOException, InterruptedException {
        JvmLauncher jvm = counting().classPath(programClasses().toString());
        if (isRoot()) {
            // Other users may not be able to read our directories, so they get copies of the files.
            Path agent = Files.copy(Path.of(System.getProperty("agent.jar")), directory.resolve("agent.jar"));
            try (Stream<Path> paths = Files.walk(directory)) {
                for (Path path : (Iterable<Path>) paths::iterator)
                    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
            jvm = JvmLauncher.withoutAgent()
                    .option("-javaagent:" + agent + "=yield=count", "-Djava.io.tmpdir=/tmp")
                    .classPath(directory.resolve("program").toString())
                    .wrappedBy(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        jvm.run(AgentCheck.class).assertSilent();
    }

    private static boolean isRoot() throws IOException {
        return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    }

    // ---- the agent's jar

    /** Creates an agent that does nothing. Its class is only in its jar, so the JVM opens that. */
    private Path emptyAgent() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", "EmptyAgent");
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, "EmptyAgent", null, "java/lang/Object", null);
        MethodVisitor premain = writer.visitMethod(
                Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "premain", "(Ljava/lang/String;)V", null, null);
        premain.visitCode();
        premain.visitInsn(Opcodes.RETURN);
        premain.visitMaxs(0, 1);
        premain.visitEnd();
        writer.visitEnd();
        Path jar = directory.resolve("empty-agent.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream jarOut = new JarOutputStream(out, manifest)) {
            jarOut.putNextEntry(new JarEntry("EmptyAgent.class"));
            jarOut.write(writer.toByteArray());
        }
        return jar;
    }

    /**
     * The JVM opens an agent's jar and keeps it open. A descriptor of ours would be one more that makes a checkpoint
     * fail, but the JDK opens a file for all its JarFiles once.
     */
    @Test
    void shouldOpenItsJarNoMoreOftenThanTheJvm() throws IOException, InterruptedException {
        Path empty = emptyAgent();
        String count = JvmLauncher.withoutAgent()
                .option("-javaagent:" + empty)
                .run(OpenJars.class, empty.toString())
                .assertSilent()
                .out();
        assertThat(count).isEqualTo("1\n");
        Path jar = directory.resolve("ours.jar");
        Files.copy(Path.of(System.getProperty("agent.jar")), jar);
        for (boolean isAttached : new boolean[] {false, true}) {
            JvmLauncher jvm = JvmLauncher.withoutAgent().classPath(UnknownJdkTest.classPathWithoutAgent());
            if (isAttached) jvm.option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading");
            else jvm.option("-javaagent:" + jar + "=yield=count");
            String[] arguments = isAttached ? new String[] {jar.toString(), "attach"} : new String[] {jar.toString()};
            assertThat(jvm.run(OpenJars.class, arguments).assertSilent().out()).isEqualTo(count);
        }
    }

    /**
     * Prints how many descriptors of a jar are open. The jar is deleted before the agent has loaded all its classes.
     */
    static final class OpenJars {
        public static void main(String[] args) throws Exception {
            Path jar = Path.of(args[0]);
            boolean isAttached = args.length > 1;
            if (isAttached) {
                VirtualMachine self = VirtualMachine.attach(
                        Long.toString(ProcessHandle.current().pid()));
                self.loadAgent(jar.toString(), "yield=count");
                self.detach();
                Files.delete(jar);
            }
            if (System.getProperty("taskclock.agent") != null)
                AgentCheck.main(isAttached ? new String[] {AgentCheck.ATTACHED} : new String[0]);
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
                System.out.println(descriptors.filter(d -> isOf(jar, d)).count());
            }
        }

        private static boolean isOf(Path jar, Path descriptor) {
            try {
                return Files.readSymbolicLink(descriptor).toString().startsWith(jar.toString());
            } catch (IOException e) {
                return false; // closed
            }
        }
    }
}
