// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.dist;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
        assertThat(texts(pom("bom"), "/project/dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(published);
    }

    @Test
    void shouldHaveTheSameProjectDataInTheBomAndTheParent() throws Exception {
        Document parent = pom(".");
        Document bom = pom("bom");
        for (String path : List.of("groupId", "version", "url", "licenses", "developers", "scm"))
            assertThat(text(bom, "/project/" + path)).isEqualTo(text(parent, "/project/" + path));
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
