// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent in JVMs of every kind, beside other agents, and in places where little is allowed. */
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
class SurroundingsTest {
    @TempDir
    Path directory;

    private static Jvm counting() {
        return Jvm.with("yield=count");
    }

    // ---- JVMs of every kind

    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
    void shouldWorkWithEachCollector(String name) throws IOException, InterruptedException {
        String option = "-XX:+Use" + name + "GC";
        assumeTrue(Jvm.plain().option(option).run(Nothing.class).exit() == 0, "this JVM has no collector " + name);
        counting().option(option, "-Xmx96m").run(Sample.class).silently();
    }

    static final class Nothing {
        public static void main(String[] args) {}
    }

    /** For archives, which hold no classes from folders. */
    private Path ownJar() throws IOException {
        Path jar = directory.resolve("program.jar");
        Path classes = ownClasses();
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream to = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                to.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, to);
            }
        }
        return jar;
    }

    @Test
    void shouldPassTheChecksOfJni() throws IOException, InterruptedException {
        Jvm.End end = counting().option("-Xcheck:jni").run(Sample.class);
        assertThat(end.exit()).as(end.toString()).isZero();
        // The JVM's own libraries do not pass them all. The line after a warning tells in which native.
        List<String> lines = end.out().lines().collect(Collectors.toList());
        for (int i = 0; i + 1 < lines.size(); i++) {
            if (!lines.get(i).startsWith("WARNING")) continue;
            assertThat(lines.get(i + 1))
                    .as(lines.get(i))
                    .startsWith("\tat ")
                    .doesNotContain("TaskClock", "sun.management.ThreadImpl", "java.lang.Thread.yield");
        }
        assertThat(end.out()).doesNotContain("FATAL");
    }

    @Test
    void shouldWorkWithAnArchiveOfClasses() throws IOException, InterruptedException {
        Path archive = directory.resolve("archive.jsa");
        Path jar = ownJar();
        made(archive, Jvm.plain().classPath(jar.toString()).option("-XX:ArchiveClassesAtExit=" + archive));
        Path loaded = directory.resolve("loaded");
        counting()
                .classPath(jar.toString())
                .option("-XX:SharedArchiveFile=" + archive, "-Xlog:class+load:file=" + loaded)
                .run(Sample.class)
                .silently();
        assertThat(loaded).content().contains(Sample.class.getName() + " source: shared objects file (top)");
    }

    /** One that was made without an agent is refused by the JVM, which says so; one that was made with it works. */
    @Test
    @EnabledForJreRange(minVersion = 25, disabledReason = "this JDK makes no ahead-of-time cache in one step")
    void shouldWorkWithAnAheadOfTimeCache() throws IOException, InterruptedException {
        Path jar = ownJar();
        Path without = directory.resolve("without.aot");
        made(without, Jvm.plain().classPath(jar.toString()).option("-XX:AOTCacheOutput=" + without));
        Jvm.End end = counting()
                .classPath(jar.toString())
                .option("-XX:AOTCache=" + without)
                .run(Sample.class);
        assertThat(end.exit()).as(end.toString()).isZero();
        assertThat(end.out())
                .contains("[error][aot]", "java.instrument specified during runtime but not during dump time");

        Path with = directory.resolve("with.aot");
        // Not while virtual threads are accounted for: a class of the JDK that was changed cannot be archived.
        made(with, Jvm.with("vthreads=off").classPath(jar.toString()).option("-XX:AOTCacheOutput=" + with));
        Path loaded = directory.resolve("loaded");
        counting()
                .classPath(jar.toString())
                .option("-XX:AOTCache=" + with, "-Xlog:class+load:file=" + loaded)
                .run(Sample.class)
                .silently();
        assertThat(loaded).content().contains(Sample.class.getName() + " source: shared objects file");
    }

    /** Loads what is to be archived. */
    static final class Trained {
        public static void main(String[] args) throws ClassNotFoundException {
            Class.forName(Sample.class.getName());
        }
    }

    private static void made(Path archive, Jvm by) throws IOException, InterruptedException {
        Jvm.End end = by.run(Trained.class);
        assertThat(archive).as(end.toString()).isNotEmptyFile();
    }

    // ---- the program's own

    /** Without anything of ours but the program of the test. */
    private Path ownClasses() throws IOException {
        Path classes = Files.createDirectories(directory.resolve("program/org/taskclock/agent"));
        for (Class<?> type : List.of(Sample.class, Trained.class, Visible.class, Yielding.class)) {
            String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
            try (InputStream in = type.getResourceAsStream(file)) {
                Files.copy(in, classes.resolve(file));
            }
        }
        return directory.resolve("program");
    }

    @Test
    void shouldShowTheProgramNoClassOfOthers() throws IOException, InterruptedException {
        counting().classPath(ownClasses().toString()).run(Visible.class).silently();
    }

    static final class Visible {
        public static void main(String[] args) throws Exception {
            Sample.main(args);
            for (String name : new String[] {"org.objectweb.asm.ClassReader", "org.taskclock.TaskClock"}) {
                for (ClassLoader loader : new ClassLoader[] {ClassLoader.getSystemClassLoader(), null}) {
                    try {
                        throw new AssertionError("visible: " + Class.forName(name, false, loader));
                    } catch (ClassNotFoundException e) {
                        // As it should be.
                    }
                }
            }
        }
    }

    /** The clock in another package, of a name as long: a class file holds names as text. */
    private Path shadedClock() throws IOException {
        Path shaded = directory.resolve("shaded.jar");
        try (JarFile jar = new JarFile(System.getProperty("clock.jar"));
                OutputStream out = Files.newOutputStream(shaded);
                JarOutputStream to = new JarOutputStream(out, jar.getManifest())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (entry.isDirectory() || name.equals(JarFile.MANIFEST_NAME)) continue;
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                to.putNextEntry(new JarEntry(renamed(name)));
                boolean isClass = name.endsWith(".class");
                Charset latin = StandardCharsets.ISO_8859_1;
                to.write(isClass ? renamed(new String(bytes, latin)).getBytes(latin) : bytes);
            }
        }
        return shaded;
    }

    private static String renamed(String text) {
        return text.replace("org/taskclock", "our/itsclocks").replace("org.taskclock", "our.itsclocks");
    }

    @Test
    void shouldShareItsStateWithCopiesOfTheProgram() throws IOException, InterruptedException {
        counting()
                .option("-Dclock.jar=" + System.getProperty("clock.jar"), "-Dshaded.jar=" + shadedClock())
                .option(Jvm.feature() >= 22 ? "--enable-native-access=ALL-UNNAMED" : "-Dnothing=")
                .run(Copies.class)
                .silently();
    }

    /** Its class path holds a copy, and two more come and go. */
    static final class Copies {
        public static void main(String[] args) throws Exception {
            agrees(org.taskclock.TaskClock.class);
            for (int i = 0; i < 3; i++) {
                assertUnloads(System.getProperty("clock.jar"), "org.taskclock.TaskClock");
                assertUnloads(System.getProperty("shaded.jar"), "our.itsclocks.TaskClock");
            }
            Sample.main(args);
            agrees(org.taskclock.TaskClock.class);

            TaskClockMXBean bean = Sample.bean();
            String rung = bean.getRung();
            bean.setEnabled(false);
            assertThat(bean.getRung()).isEqualTo("mxbean");
            assertThat(org.taskclock.TaskClock.cpuNanos())
                    .isLessThan(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
            bean.setEnabled(true);
            assertThat(bean.getRung()).isEqualTo(rung);
            agrees(org.taskclock.TaskClock.class);
        }

        private static void agrees(Class<?> clock) throws Exception {
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
            WeakReference<Class<?>> copy = used(jar, name);
            assertGoes(copy);
        }

        private static WeakReference<Class<?>> used(String jar, String name) throws Exception {
            URL[] urls = {Path.of(jar).toUri().toURL()};
            try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
                Class<?> clock = loader.loadClass(name);
                assertThat(clock.getClassLoader()).isSameAs(loader);
                agrees(clock);
                return new WeakReference<>(clock);
            }
        }
    }

    private static void assertGoes(WeakReference<Class<?>> type) throws InterruptedException {
        for (int i = 0; i < 100 && type.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertThat(type.get()).as("a class that should have been unloaded").isNull();
    }

    @Test
    void shouldLetClassesThatYieldedGo() throws IOException, InterruptedException {
        counting().option("-Dprogram=" + ownClasses()).run(Unloading.class).silently();
    }

    static final class Unloading {
        public static void main(String[] args) throws Exception {
            for (int i = 0; i < 5; i++) assertGoes(used());
            assertThat(Sample.bean().getYieldSites())
                    .extracting(TaskClockMXBean.YieldSite::getSite)
                    .anyMatch(site -> site.contains("Yielding.run"));
        }

        private static WeakReference<Class<?>> used() throws Exception {
            URL[] urls = {Path.of(System.getProperty("program")).toUri().toURL()};
            try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
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

    // ---- beside other agents

    @ParameterizedTest
    @CsvSource({"jacoco, false", "jacoco, true", "opentelemetry, false", "opentelemetry, true"})
    void shouldWorkBesideOtherAgents(String other, boolean first) throws IOException, InterruptedException {
        String agents = System.getProperty("agents.dir");
        String option = other.equals("jacoco")
                ? "-javaagent:" + agents + "/jacoco.jar=output=none"
                : "-javaagent:" + agents + "/opentelemetry.jar";
        String ours = "-javaagent:" + System.getProperty("agent.jar") + "=yield=count";
        Jvm.plain()
                .option(first ? option : ours, first ? ours : option)
                // Otherwise the JVM says that it shares less once an agent adds to the boot class path.
                .option("-Xshare:off", "-Dotel.javaagent.logging=none")
                .option("-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none")
                .run(Beside.class, other)
                .silently();
    }

    static final class Beside {
        public static void main(String[] args) throws Exception {
            if (args[0].equals("jacoco"))
                assertThat(Sample.class.getDeclaredMethods())
                        .extracting(Method::getName)
                        .contains("$jacocoInit");
            else
                assertThat(Class.forName("io.opentelemetry.javaagent.bootstrap.AgentInitializer", false, null))
                        .isNotNull();
            Sample.main(new String[0]);
        }
    }

    // ---- where little is allowed

    /** A folder with the two libraries, as the documentation tells to make one. */
    private Path libraries() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("libraries"));
        try (JarFile jar = new JarFile(System.getProperty("agent.jar"))) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (!name.endsWith(".so")) continue;
                try (InputStream in = jar.getInputStream(entry)) {
                    Files.copy(in, folder.resolve(name.substring(name.lastIndexOf('/') + 1)));
                }
            }
        }
        return folder;
    }

    @Test
    void shouldWorkWhereNothingCanBeWritten() throws IOException, InterruptedException {
        // Nobody can make a file in /proc.
        Jvm jvm = counting().option("-Djava.io.tmpdir=/proc", "-XX:-UsePerfData");
        Jvm.End end = jvm.run(Nothing.class);
        assertThat(end.exit()).isZero();
        assertThat(end.err().lines())
                .as(end.toString())
                .singleElement()
                .asString()
                .startsWith("taskclock: agent: ")
                .contains("taskclock.library.path");
        jvm.option("-Dtaskclock.library.path=" + libraries()).run(Sample.class).silently();
    }

    @Test
    void shouldWorkWhereNothingInTmpMayRun() throws IOException, InterruptedException {
        String[] mounted = {
            "unshare", "--mount", "--map-root-user", "sh", "-c", "mount -t tmpfs -o noexec tmpfs \"$0\" && exec \"$@\""
        };
        Path noexec = Files.createDirectory(directory.resolve("noexec"));
        List<String> before =
                Stream.concat(Stream.of(mounted), Stream.of(noexec.toString())).collect(Collectors.toList());
        assumeTrue(
                Jvm.plain().behind(before).run(Nothing.class).exit() == 0,
                "this machine lets nobody mount a file system");
        Jvm jvm = counting().option("-Djava.io.tmpdir=" + noexec).behind(before);
        Jvm.End end = jvm.run(Nothing.class);
        assertThat(end.exit()).isZero();
        assertThat(end.err().lines())
                .as(end.toString())
                .singleElement()
                .asString()
                .startsWith("taskclock: agent: ")
                .contains("taskclock.library.path");
        jvm.option("-Dtaskclock.library.path=" + libraries()).run(Sample.class).silently();
    }

    @Test
    void shouldWorkForAUserWithoutRights() throws IOException, InterruptedException {
        Jvm jvm = counting().classPath(ownClasses().toString());
        if (isRoot()) {
            // Where nobody else may look into our folders, copies of all that is needed.
            Path agent = Files.copy(Path.of(System.getProperty("agent.jar")), directory.resolve("agent.jar"));
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : (Iterable<Path>) all::iterator)
                    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
            jvm = Jvm.plain()
                    .option("-javaagent:" + agent + "=yield=count", "-Djava.io.tmpdir=/tmp")
                    .classPath(directory.resolve("program").toString())
                    .behind(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        jvm.run(Sample.class).silently();
    }

    private static boolean isRoot() throws IOException {
        return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    }
}
