// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow17")
class PackagesTest {
    private static final String ROOT = "org.taskclock.monitor.";

    /** Each depends on those before it only. */
    private static final List<String> FOUNDATIONS = List.of("usage", "proc", "attach", "finding", "sampling");

    /** These depend on the foundations, and not on each other. */
    private static final List<String> PURPOSES = List.of("fleet", "profile", "recording");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("org.taskclock.monitor");

    @Test
    void shouldHaveNoCycles() {
        slices().matching(ROOT + "(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void shouldDependOnLowerPackagesOnly() {
        LayeredArchitecture layers = layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture();
        for (String name : FOUNDATIONS) layers = layers.layer(name).definedBy(ROOT + name);
        for (String name : PURPOSES) layers = layers.layer(name).definedBy(ROOT + name);
        layers = layers.whereLayer(FOUNDATIONS.get(0)).mayNotAccessAnyLayer();
        for (int i = 1; i < FOUNDATIONS.size(); i++)
            layers = layers.whereLayer(FOUNDATIONS.get(i))
                    .mayOnlyAccessLayers(FOUNDATIONS.subList(0, i).toArray(String[]::new));
        for (String name : PURPOSES)
            layers = layers.whereLayer(name).mayOnlyAccessLayers(FOUNDATIONS.toArray(String[]::new));
        layers.check(CLASSES);
    }
}
