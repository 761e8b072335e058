// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.MILLIS;
import static org.taskclock.monitor.finding.Observations.SECOND;

import com.google.gson.Gson;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The registry, and the conditions that concern a JVM as a whole. */
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
        assertThat(FindingKinds.ALL).allSatisfy(kind -> assertThat(List.of(kind.meaning(), kind.action()))
                .allMatch(text -> text.matches("[A-Z].+\\.")));
    }

    @Test
    void shouldBeWrittenAsIdentifier() {
        Gson gson = new Gson();
        Finding finding = new Finding(new YieldStorm(), 7, "It yields.", List.of("a"));
        String json = gson.toJson(finding);
        assertThat(json).isEqualTo("{\"kind\":\"yield-storm\",\"tid\":7,\"text\":\"It yields.\",\"evidence\":[\"a\"]}");
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

    private static Observation collectors(boolean isGuessed, boolean hasCollected) {
        ThreadUsage pool = new ThreadUsage(
                7, 0, 0, "GC Thread##", isGuessed, ThreadKind.GC, "GC Thread##", 4, SECOND, SECOND, 0, 1, 1, '-');
        return new Observation(
                SECOND,
                List.of(),
                List.of(pool),
                2 * SECOND,
                0,
                -1,
                hasCollected,
                "",
                0,
                Observations.NO_AGENT,
                new LockConvoys(),
                null);
    }

    @ParameterizedTest
    @CsvSource({"false, false, true", "true, false, false", "true, true, true"})
    void shouldNotConcludeFromNamesAlone(boolean isGuessed, boolean hasCollected, boolean isFound) {
        List<Finding> found = collectors(isGuessed, hasCollected).findings();
        assertThat(found).extracting(Finding::kind).isEqualTo(isFound ? List.of(new GarbageCollection()) : List.of());
    }

    @Test
    void shouldCountTheThreadsOfPools() {
        Finding found = collectors(false, false).findings().get(0);
        assertThat(found.text()).isEqualTo("garbage collection uses 50 % of the JVM's CPU time");
        assertThat(found.evidence()).containsExactly("100 % of a core, in 4 threads");
    }

    @ParameterizedTest
    @CsvSource({"2, 51, true", "2, 50, false", "0, 900, false", "2, -1, false"})
    void shouldFindThrottledContainers(double limit, long throttledMillis, boolean isFound) {
        ContainerUsage container = new ContainerUsage(SECOND, throttledMillis * MILLIS, limit);
        List<Finding> found = Observation.ofPools(List.of(), List.of(), SECOND, container, SECOND, null)
                .findings();
        assertThat(found).extracting(Finding::kind).isEqualTo(isFound ? List.of(new Throttled()) : List.of());
    }

    /** Without the agent, all CPU time of virtual threads is that of carriers. */
    @ParameterizedTest
    @CsvSource({"500, 250, true", "500, 350, false", "500, 0, false", "150, 70, false"})
    void shouldFindCarriersThatMostlySchedule(long carrier, long virtual, boolean isFound) {
        ThreadUsage carriers = Observations.thread(0, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, carrier, 0, 0, 1);
        ThreadUsage requests = Observations.thread(0, "request-1", ThreadKind.VIRTUAL, virtual, 0, -1, -1);
        List<Finding> found = Observation.ofPools(List.of(carriers, requests), List.of(), SECOND, null, SECOND, null)
                .findings();
        assertThat(found).extracting(Finding::kind).isEqualTo(isFound ? List.of(new SchedulingHeavy()) : List.of());
        if (isFound)
            assertThat(found.get(0).evidence())
                    .contains("scheduling virtual threads uses 25 % of a core")
                    .noneMatch(line -> line.contains("mounted"));
    }

    @ParameterizedTest
    @CsvSource({"900, 500, true", "900, 400, false", "400, 900, false"})
    void shouldFindThePoolThatDominatesTheHost(long cpu, long wait, boolean isFound) {
        ThreadUsage pool = Observations.thread(0, "worker-1", ThreadKind.JAVA, cpu, 0, wait, 1);
        ThreadUsage other = Observations.thread(0, "main", ThreadKind.JAVA, 10, 0, 0, 1);
        PoolDominates.Host host = PoolDominates.Host.of(List.of(pool, other), SECOND);
        List<Finding> found = Observation.ofPools(List.of(pool), List.of(), SECOND, null, SECOND, host)
                .findings();
        assertThat(found).extracting(Finding::kind).isEqualTo(isFound ? List.of(new PoolDominates()) : List.of());
    }
}
