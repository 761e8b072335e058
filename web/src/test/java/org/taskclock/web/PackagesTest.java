// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class PackagesTest {
    private static final String ROOT = "org.taskclock.web";

    @Test
    void shouldDependOnLowerPackagesOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture()
                .layer("http")
                .definedBy(ROOT + ".http")
                .layer("metrics")
                .definedBy(ROOT + ".metrics")
                .layer("webhook")
                .definedBy(ROOT + ".webhook")
                .layer("fleet")
                .definedBy(ROOT + ".fleet")
                .layer("serve")
                .definedBy(ROOT)
                .whereLayer("http")
                .mayNotAccessAnyLayer()
                .whereLayer("metrics")
                .mayOnlyAccessLayers("http")
                .whereLayer("webhook")
                .mayOnlyAccessLayers("http")
                .whereLayer("fleet")
                .mayOnlyAccessLayers("http")
                .check(new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages(ROOT));
    }
}
