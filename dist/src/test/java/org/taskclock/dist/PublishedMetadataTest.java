// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.dist;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** What Maven Central demands of each published module, and what the BOM and the jbang catalog say. */
@Tag("slow17")
class PublishedMetadataTest {
    private static final Path ROOT = Path.of("..");
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();

    private static Document pom(String module) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(ROOT.resolve(module).resolve("pom.xml").toFile());
    }

    private static List<String> texts(Document document, String path) throws Exception {
        NodeList nodes = (NodeList) XPATH.evaluate(path, document, XPathConstants.NODESET);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++)
            texts.add(nodes.item(i).getTextContent().replaceAll("\\s+", " ").strip());
        return texts;
    }

    private static String text(Document document, String path) throws Exception {
        List<String> texts = texts(document, path);
        assertThat(texts).as(path).hasSize(1);
        assertThat(texts.get(0)).as(path).isNotEmpty();
        return texts.get(0);
    }

    @Test
    void shouldListEachPublishedLibraryInTheBom() throws Exception {
        List<String> published = new ArrayList<>();
        for (String module : texts(pom("."), "/project/modules/module")) {
            Document pom = pom(module);
            boolean isPom = texts(pom, "/project/packaging").contains("pom");
            if (isPom || texts(pom, "/project/properties/maven.deploy.skip").contains("true")) continue;
            published.add(text(pom, "/project/artifactId"));
            text(pom, "/project/name");
            text(pom, "/project/description");
            assertThat(texts(pom, "/project/build/plugins/plugin/artifactId"))
                    .as(module)
                    .contains("maven-source-plugin", "maven-javadoc-plugin", "cyclonedx-maven-plugin");
        }
        assertThat(published).contains("taskclock", "taskclock-agent");
        assertThat(texts(pom("dist/bom"), "/project/dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(published);
    }

    @Test
    void shouldHaveTheSameProjectDataInTheBomAndTheParent() throws Exception {
        Document parent = pom(".");
        Document bom = pom("dist/bom");
        for (String path : List.of("groupId", "version", "url", "licenses", "developers", "scm"))
            assertThat(text(bom, "/project/" + path)).isEqualTo(text(parent, "/project/" + path));
    }

    /** Otherwise, the name of a module would follow from the name of the file. */
    @ParameterizedTest
    @CsvSource({
        "clock, org.taskclock, false",
        "agent, org.taskclock.agent, true",
        "metrics/bindings, org.taskclock.bindings, true",
        "metrics, org.taskclock.metrics, false",
        "metrics/micrometer, org.taskclock.micrometer, false",
        "metrics/opentelemetry, org.taskclock.opentelemetry, false"
    })
    void shouldHaveAStableModuleName(String module, String name, boolean isAutomatic) throws IOException {
        List<Path> jars;
        try (Stream<Path> files = Files.list(ROOT.resolve(module).resolve("target"))) {
            jars = files.filter(file ->
                            file.getFileName().toString().matches("taskclock.*(-[\\d.]+(-SNAPSHOT)?|-agent)\\.jar"))
                    .toList();
        }
        assertThat(jars).hasSize(1);
        ModuleDescriptor descriptor =
                ModuleFinder.of(jars.get(0)).findAll().iterator().next().descriptor();
        assertThat(descriptor.name()).isEqualTo(name);
        assertThat(descriptor.isAutomatic()).isEqualTo(isAutomatic);
        if (isAutomatic) {
            try (JarFile jar = new JarFile(jars.get(0).toFile())) {
                assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                        .isEqualTo(name);
            }
        } else {
            assertThat(descriptor.exports()).extracting(Exports::source).containsExactly(name);
        }
    }

    @Test
    void shouldNameOneVersionEverywhere() throws Exception {
        String version = text(pom("."), "/project/version");
        assertThat(version).as("semantic version").matches("\\d+\\.\\d+\\.\\d+(-SNAPSHOT)?");
        for (Path file : files("pom.xml")) {
            Document pom = pom(ROOT.relativize(file.getParent()).toString());
            assertThat(texts(
                            pom,
                            "/project[not(parent)][groupId='org.taskclock']/version"
                                    + " | /project/parent[groupId='org.taskclock']/version"))
                    .as(file.toString())
                    .containsOnly(version);
        }
        // Documents name the version that is published, not the one that is developed.
        String published = version.replace("-SNAPSHOT", "");
        Pattern dependency = Pattern.compile("<artifactId>taskclock[^<]*</artifactId>\\s*<version>([^<]*)</version>");
        int documents = 0;
        for (Path file : files(".md")) {
            Matcher matcher = dependency.matcher(Files.readString(file));
            for (; matcher.find(); documents++)
                assertThat(matcher.group(1)).as(file.toString()).isIn(published, "VERSION");
        }
        assertThat(documents).isGreaterThan(2);
        assertThat(Files.readString(ROOT.resolve("CHANGELOG.md"))).contains("\n## " + published);
        assertThat(Files.readString(ROOT.resolve("deploy/kubernetes/base/taskclock.yaml")))
                .containsPattern("image: \"?taskclock:" + Pattern.quote(published) + "\"?\n");
    }

    private static List<Path> files(String suffix) throws IOException {
        try (Stream<Path> files = Files.find(
                ROOT,
                5,
                (path, attributes) ->
                        path.toString().endsWith(suffix) && !path.toString().contains("/target/"))) {
            return files.toList();
        }
    }

    @Test
    void shouldRunTheReleasedJarWithJbang() throws Exception {
        String catalog = Files.readString(ROOT.resolve("jbang-catalog.json"));
        JsonObject alias = JsonParser.parseString(catalog)
                .getAsJsonObject()
                .getAsJsonObject("aliases")
                .getAsJsonObject("taskclock");
        assertThat(alias.get("script-ref").getAsString())
                .isEqualTo(text(pom("."), "/project/url") + "/releases/latest/download/taskclock-cli.jar");
        assertThat(alias.get("java").getAsString()).isEqualTo("17+");
    }
}
