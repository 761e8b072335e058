// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FindingKindsTest {
    @Test
    void shouldListEachClassOnce() {
        Set<String> classes = new TreeSet<>();
        for (JavaClass type : new ClassFileImporter().importPackages("org.taskclock.monitor.finding"))
            if (type.isAssignableTo(FindingKind.class)
                    && type.isTopLevelClass()
                    && !type.getModifiers().contains(JavaModifier.ABSTRACT)) classes.add(type.getSimpleName());
        assertThat(FindingKinds.ALL)
                .extracting(kind -> kind.getClass().getSimpleName())
                .containsExactlyInAnyOrderElementsOf(classes);
        assertThat(FindingKinds.ALL.stream().map(FindingKind::id).collect(Collectors.toSet()))
                .hasSameSizeAs(FindingKinds.ALL)
                .allMatch(id -> id.matches("[a-z][a-z-]+"));
        assertThat(FindingKinds.ALL).extracting(FindingKind::rank).isSorted().doesNotHaveDuplicates();
        assertThat(FindingKinds.ALL).allSatisfy(kind -> assertThat(List.of(kind.meaning(), kind.action()))
                .allMatch(text -> text.matches("[A-Z].+\\.")));
    }

    @Test
    void shouldBeWrittenAsIdentifier() {
        Gson gson = new Gson();
        Finding finding = new Finding(new YieldStorm(), 7, "It yields.", List.of("a"));
        String json = gson.toJson(finding);
        assertThat(json)
                .startsWith("{\"kind\":\"yield-storm\",\"tid\":7,\"text\":\"It yields.\",\"evidence\":[\"a\"],");
        assertThat(gson.fromJson(json, Finding.class)).isEqualTo(finding);
    }

    @Test
    void shouldKeepKindsThatAnotherVersionKnows() {
        FindingKind unknown = FindingKinds.of("too-warm");
        assertThat(unknown).isEqualTo(FindingKinds.of("too-warm")).hasToString("too-warm");
        assertThat(unknown.meaning()).isEmpty();
        assertThat(List.of(unknown, new ExporterDown(), new YieldStorm()).stream()
                        .sorted(FindingKinds.BY_SEVERITY))
                .containsExactly(new YieldStorm(), new ExporterDown(), unknown);
    }
}
