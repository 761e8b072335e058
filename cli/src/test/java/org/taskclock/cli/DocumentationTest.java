// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;

/** Checks what the documentation refers to. {@code docs/site/build.sh} checks the site that is made of it. */
@Tag("slow17")
class DocumentationTest {
    private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern CODE =
            Pattern.compile("^ *```.*?^ *```$|`[^`\n]+`", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK =
            Pattern.compile("\\]\\(([^)\\s]+)\\)|^\\[[^\\]]+\\]: (\\S+)$", Pattern.MULTILINE);
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern SITE_PATTERNS =
            Pattern.compile("^include_patterns = \\[(.*?)\\]", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+Test)(?:\\.(\\w+))?`");

    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

    /** Comparisons with versions of the JDK, constants with versions, and messages that name one. */
    private static final Pattern VERSION_IN_CODE =
            Pattern.compile("\\w*(?i:feature|jdk|version)\\w*(\\([\\w.]*\\))* *([<>]=?|[!=]=) *(\\d{2}\\b)"
                    + "|\\bint \\w*(FEATURE|JDK|JAVA|SINCE|FIRST_WITH|VIRTUAL_THREADS)\\w* = \\d{2};"
                    + "|Version\\.parse\\(\"|compareToIgnoreOptional"
                    + "|\"[^\"\n]*\\b(JDK|Java) (1[79]|2\\d)\\b[^\"\n]*\"");

    /** The first version that something applies to, or the last one that it does not. */
    private static final Pattern VERSION_IN_TEXT = Pattern.compile(
            "\\bJDK (\\d\\d)\\s(?:and|or)\\slater|\\b(?:up\\sto\\sJDK|JDK \\d\\d\\sto) (\\d\\d)(?!\\.?\\d)");

    private static List<Path> pages() throws IOException {
        return files(".md");
    }

    /** Returns the files whose paths end with this. */
    private static List<Path> files(String end) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(REPOSITORY, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = directory.getFileName().toString();
                boolean isOther = name.equals("target") || name.startsWith(".");
                return isOther && !directory.equals(REPOSITORY)
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(end)) found.add(file);
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    @Test
    void shouldAllBeInTheSite() throws IOException {
        Matcher patterns = SITE_PATTERNS.matcher(Files.readString(REPOSITORY.resolve("docs/site/conf.py")));
        assertThat(patterns.find()).isTrue();
        List<PathMatcher> matchers = Pattern.compile("\"([^\"]+)\"")
                .matcher(patterns.group(1))
                .results()
                .map(pattern -> FileSystems.getDefault().getPathMatcher("glob:" + pattern.group(1)))
                .toList();
        List<Path> pages = pages().stream().map(REPOSITORY::relativize).toList();
        assertThat(pages).hasSizeGreaterThan(50);
        assertThat(pages).allMatch(page -> matchers.stream().anyMatch(matcher -> matcher.matches(page)));
    }

    @Test
    void shouldHaveNoBrokenLinks() throws IOException {
        List<String> broken = new ArrayList<>();
        int count = 0;
        for (Path page : pages()) {
            Matcher link = LINK.matcher(CODE.matcher(Files.readString(page)).replaceAll("code"));
            while (link.find()) {
                String target = link.group(1) == null ? link.group(2) : link.group(1);
                if (target.contains("://") || target.startsWith("mailto:")) continue;
                count++;
                String problem = problem(page, target);
                if (problem != null) broken.add(REPOSITORY.relativize(page) + ": " + target + ": " + problem);
            }
        }
        assertThat(broken).isEmpty();
        assertThat(count).isGreaterThan(100);
    }

    /** Returns why a link is broken; null if it is not. */
    private static String problem(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!target.startsWith(REPOSITORY)) return "leaves the repository";
        if (!Files.exists(target)) return "no such file";
        if (parts.length == 1) return null;
        return anchors(target).contains(parts[1]) ? null : "no such heading";
    }

    /** Returns the anchors of a page's headings, as GitHub names them. */
    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new HashSet<>();
        Matcher heading = HEADING.matcher(Files.readString(page));
        while (heading.find()) {
            String text = heading.group(1).replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
            anchors.add(text.strip()
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N}_\\- ]", "")
                    .replace(' ', '-'));
        }
        return anchors;
    }

    @Test
    void shouldCompareVersionsOfTheJdkOnlyWithThoseOfOneFile() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files(".java")) {
            // Newsletter quotes results of others.
            if (!file.toString().contains("/src/main/") || file.endsWith("JdkVersions.java")) continue;
            if (file.endsWith("Newsletter.java")) continue;
            VERSION_IN_CODE
                    .matcher(COMMENT.matcher(Files.readString(file)).replaceAll(""))
                    .results()
                    .forEach(match -> found.add(REPOSITORY.relativize(file) + ": " + match.group()));
        }
        assertThat(found).isEmpty();
    }

    @Test
    void shouldNameTheVersionsOfTheJdkThatWereTested() throws IOException {
        List<String> tested = List.of(JdkVersions.TESTED.split(", "));
        assertThat(tested.get(tested.size() - 1)).isEqualTo(String.valueOf(JdkVersions.NEWEST_TESTED));
        String all = JdkVersions.TESTED.replaceFirst(", (\\d+)$", ", and $1");
        assertContains("docs/troubleshooting.md", "We test JDK " + all);
        assertContains("docs/upstream/abi.md", "have verified this on JDK " + all);
        assertContains(
                "docs/agent.md",
                "runs on JDK " + JdkVersions.OLDEST + " to " + JdkVersions.NEWEST_TESTED + " on Linux");
        assertContains(
                "docs/virtual-threads.md", "| | JDK " + String.join(" | ", tested.subList(1, tested.size())) + " |");
        for (String page : List.of("README.md", "docs/install.md", "docs/exporter.md"))
            assertContains(page, "Java " + JdkVersions.OLDEST + " or later");
        assertContains("pom.xml", "compiler.release>" + JdkVersions.OLDEST + "<");
    }

    private static void assertContains(String file, String text) throws IOException {
        assertThat(Files.readString(REPOSITORY.resolve(file)).contains(text))
                .as(file + " contains: " + text)
                .isTrue();
    }

    @Test
    void shouldKnowTheVersionsOfTheJdkThatDocumentsName() throws Exception {
        Set<Integer> first = new HashSet<>(Set.of(JdkVersions.NEWEST_TESTED + 1));
        for (Field field : JdkVersions.class.getFields())
            if (field.getType() == int.class) first.add(field.getInt(null));
        List<String> unknown = new ArrayList<>();
        int count = 0;
        for (Path page : pages()) {
            Matcher version = VERSION_IN_TEXT.matcher(Files.readString(page));
            while (version.find()) {
                count++;
                boolean isFirst = version.group(1) != null;
                int named = Integer.parseInt(version.group(isFirst ? 1 : 2));
                if (!first.contains(isFirst ? named : named + 1))
                    unknown.add(REPOSITORY.relativize(page) + ": " + version.group());
            }
        }
        assertThat(unknown).isEmpty();
        assertThat(count).isGreaterThan(20);
    }

    @Test
    void shouldNameTestsThatExist() throws IOException {
        Matcher test = TEST.matcher(Files.readString(REPOSITORY.resolve("docs/threat-model.md")));
        List<String> missing = new ArrayList<>();
        int count = 0;
        while (test.find()) {
            count++;
            String method = test.group(2) == null ? "class " + test.group(1) : "void " + test.group(2) + "(";
            if (!sourceOf(test.group(1)).contains(method)) missing.add(test.group());
        }
        assertThat(missing).isEmpty();
        assertThat(count).isGreaterThan(30);
    }

    /** The last column of a row is a test, a fuzz target, or a file by which the build or a person checks it. */
    @Test
    void shouldNameATestForEachThreat() throws IOException {
        List<String> without = new ArrayList<>();
        int count = 0;
        boolean isInTable = false;
        for (String line : Files.readAllLines(REPOSITORY.resolve("docs/threat-model.md"))) {
            boolean isHeader = line.startsWith("| threat |");
            isInTable = line.startsWith("|") && (isInTable || isHeader);
            if (!isInTable || isHeader || line.startsWith("|---")) continue;
            count++;
            String[] cells = line.split("\\|", -1);
            if (!namesACheck(cells[cells.length - 2])) without.add(line);
        }
        assertThat(without).isEmpty();
        assertThat(count).isGreaterThan(40);
    }

    private static boolean namesACheck(String cell) {
        if (TEST.matcher(cell).find()) return true;
        return Pattern.compile("`([^`]+)`")
                .matcher(cell)
                .results()
                .map(name -> name.group(1))
                .anyMatch(name -> name.matches("\\w+Fuzz")
                        ? Files.isDirectory(REPOSITORY.resolve("dev/fuzz/seeds/" + name))
                        : Files.isRegularFile(REPOSITORY.resolve(name)));
    }

    /** Returns the source of a test class; empty if there is none. */
    private static String sourceOf(String className) throws IOException {
        List<Path> sources = files("/" + className + ".java");
        return sources.isEmpty() ? "" : Files.readString(sources.get(0));
    }
}
