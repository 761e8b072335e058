// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;
import org.taskclock.internal.JdkVersions;

/** Tests the contents of the jar. */
class PackagingTest {
    private static final String VERSIONS = "META-INF/versions/" + JdkVersions.FOREIGN_FUNCTIONS + "/";
    /** The offset of the processor type in an ELF file; elf(5). */
    private static final int E_MACHINE = 18;

    /** The version of the class files of a JDK, less that of the JDK. */
    private static final int CLASS_FILE = 44;

    private final Path path = Path.of(System.getProperty("test.jar"));
    private JarFile jar;

    @BeforeEach
    void open() throws IOException {
        jar = new JarFile(path.toFile());
    }

    @AfterEach
    void close() throws IOException {
        jar.close();
    }

    private Set<String> names() {
        return jar.stream()
                .filter(entry -> !entry.isDirectory())
                .map(JarEntry::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private byte[] bytes(String name) throws IOException {
        return jar.getInputStream(jar.getEntry(name)).readAllBytes();
    }

    @Test
    void shouldContainOnlyTheLibrary() {
        assertThat(names())
                .contains(
                        "META-INF/LICENSE",
                        "META-INF/MANIFEST.MF",
                        "module-info.class",
                        "org/taskclock/TaskClock.class",
                        "org/taskclock/Native.class",
                        "META-INF/versions/22/org/taskclock/Native.class")
                .allMatch(name -> name.startsWith("META-INF/")
                        || name.equals("module-info.class")
                        || name.startsWith("org/taskclock/"))
                .noneMatch(name -> name.contains("Test") || name.endsWith(".java"))
                .doesNotContain("org/taskclock/SystemCalls.class", "org/taskclock/ChildJvm.class");
    }

    @ParameterizedTest
    @CsvSource({"false, 62, x86_64-linux-gnu-gcc", "true, 183, aarch64-linux-gnu-gcc"})
    void shouldContainTheNativeLibraryIfItIsBuilt(boolean isAarch64, int machine, String crossCompiler)
            throws IOException {
        boolean isNative = System.getProperty("os.arch").equals("aarch64") == isAarch64;
        boolean expected = ExpectedBackend.isNative() && (isNative || isInstalled(crossCompiler));
        String clock = "org/taskclock/" + ExpectedBackend.libraryName(isAarch64);
        for (String name : List.of(clock, clock.replace("libtaskclock", "libtaskclock-context"))) {
            assertThat(names().contains(name)).as(name).isEqualTo(expected);
            if (!expected) continue;
            assertThat(bytes(name)).startsWith(0x7f, 'E', 'L', 'F');
            assertThat(bytes(name)[E_MACHINE]).isEqualTo((byte) machine);
        }
    }

    private static boolean isInstalled(String command) {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
    }

    @Test
    void shouldContainItsVersion() throws IOException {
        String version = new String(bytes("org/taskclock/version"), StandardCharsets.UTF_8).trim();
        assertThat(version).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(path.getFileName().toString()).contains(version);
    }

    @Test
    void shouldContainTheClassesForNewerJdks() {
        assertThat(jar.isMultiRelease()).isTrue();
        assertThat(names().stream().filter(name -> name.startsWith(VERSIONS)))
                .containsExactlyInAnyOrder(
                        VERSIONS + "org/taskclock/FfmBinding.class",
                        VERSIONS + "org/taskclock/Native.class",
                        VERSIONS + "org/taskclock/ThreadType.class");
    }

    @Test
    void shouldHaveTheSamePublicApiOnEveryJdk() {
        assumeTrue(
                Runtime.version().feature() >= JdkVersions.FOREIGN_FUNCTIONS,
                "this JDK's jar tool cannot read classes of JDK 22");
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output);
        ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
        int result = tool.run(writer, writer, "--validate", "--file", path.toString());
        assertThat(result).as(output.toString()).isZero();
    }

    @Test
    void shouldContainClassesThatRunOnJdk17() throws IOException {
        for (String name : names()) {
            if (!name.endsWith(".class")) continue;
            int major = ByteBuffer.wrap(bytes(name)).getShort(6);
            int jdk = name.startsWith(VERSIONS) ? JdkVersions.FOREIGN_FUNCTIONS : JdkVersions.OLDEST;
            assertThat(major).as(name).isEqualTo(CLASS_FILE + jdk);
        }
    }

    @Test
    void shouldRequireOnlyModulesOfTheJdk() {
        var module = ModuleFinder.of(path).find("org.taskclock").orElseThrow().descriptor();
        assertThat(module.requires().stream().map(Requires::name))
                .containsExactlyInAnyOrder("java.base", "java.management", "jdk.management", "jdk.jfr")
                .allMatch(name -> ModuleFinder.ofSystem().find(name).isPresent());
        assertThat(module.exports()).hasSize(1);
        assertThat(module.opens()).isEmpty();
    }

    @Test
    void shouldReferOnlyToClassesOfTheJdk() throws IOException {
        Set<String> used = new TreeSet<>();
        Remapper collecting = new Remapper(Opcodes.ASM9) {
            @Override
            public String map(String name) {
                used.add(name);
                return name;
            }
        };
        for (String name : names()) {
            if (!name.endsWith(".class") || name.equals("module-info.class")) continue;
            new ClassReader(bytes(name)).accept(new ClassRemapper(new ClassVisitor(Opcodes.ASM9) {}, collecting), 0);
        }
        assertThat(used)
                .contains("java/lang/Object", "org/taskclock/TaskClock")
                .allMatch(name -> name.matches("(java|javax/management|com/sun/management|jdk/jfr|org/taskclock)/.*"));
    }
}
