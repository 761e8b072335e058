// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests what a profiler outside the process finds, as OpenTelemetry's OTEP 4947 and OTEP 4719 specify. */
@SuppressWarnings("try") // sections are only opened and closed
class ThreadContextTest {
    private static final String NO_SPAN = "trace=00000000000000000000000000000000 span=0000000000000000 flags=00";

    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    private static List<String> run(Class<?> program, String... arguments) {
        List<String> options = List.of("-D" + ThreadContext.PROPERTY + "=on", "-Xcheck:jni");
        ChildJvm child = ChildJvm.run(options, program, arguments).succeeded();
        assertThat(child.err()).isEmpty();
        return child.out().lines().toList();
    }

    /** Runs the reader on the calling thread, and returns its lines. */
    static List<String> read(int count) {
        String reader = Path.of(System.getProperty("test.native"), "context_reader")
                .toAbsolutePath()
                .toString();
        String process = Long.toString(ProcessHandle.current().pid());
        return ChildJvm.run(List.of(reader, process, Integer.toString(SystemCalls.gettid()), Integer.toString(count)))
                .succeeded()
                .out()
                .lines()
                .toList();
    }

    /** Prints the context of the calling thread. */
    static void print(String title) {
        List<String> lines = read(1);
        System.out.println(title + ": " + lines.get(lines.size() - 1));
    }

    @Test
    void shouldPublishAccountsAndSpans() {
        assertThat(run(Sections.class))
                .containsExactly(
                        "on",
                        "started: schema tlsdesc_v1_dev, keys",
                        "tenant: " + NO_SPAN + " taskclock.account.tenant=acme",
                        "both: " + NO_SPAN + " taskclock.account.tenant=acme taskclock.account.query.kind=Q 1",
                        "span: trace=000000000000000fedcba98765432100 span=8000000000000001 flags=01"
                                + " taskclock.account.tenant=acme taskclock.account.query.kind=Q 1",
                        "inner: trace=000000000000000fedcba98765432100 span=8000000000000001 flags=01"
                                + " taskclock.account.tenant=größer€😀 taskclock.account.query.kind=Q 1",
                        "outer: trace=000000000000000fedcba98765432100 span=8000000000000001 flags=01"
                                + " taskclock.account.tenant=acme",
                        "span only: trace=000000000000000fedcba98765432100 span=8000000000000001 flags=01",
                        "nothing: invalid",
                        "half a span: invalid",
                        "keys taskclock.account.tenant taskclock.account.query.kind",
                        "other thread: none",
                        "other thread's: " + NO_SPAN + " taskclock.account.tenant=other's");
    }

    static final class Sections {
        private Sections() {}

        public static void main(String[] arguments) throws Exception {
            AccountType tenant = CpuAccounts.type("tenant");
            AccountType query = CpuAccounts.type("query.kind");
            System.out.println(ThreadContext.state());
            System.out.println("started: " + String.join(", ", read(1).subList(0, 2)));
            CpuSection first = tenant.of("acme").enter();
            print("tenant");
            CpuSection second = query.of("Q 1").enter();
            print("both");
            ThreadContext.setTrace(0xf, 0xedcba98765432100L, 0x8000000000000001L, 0x101);
            print("span");
            CpuSection third = tenant.of("größer€😀").enter();
            print("inner");
            second.close();
            third.close();
            print("outer");
            first.close();
            print("span only");
            ThreadContext.setTrace(0, 0, 0, 0);
            print("nothing");
            ThreadContext.setTrace(1, 2, 0, 1);
            print("half a span");
            System.out.println(read(1).get(1));
            Thread thread = new Thread(() -> {
                print("other thread");
                try (CpuSection section = tenant.of("other's").enter()) {
                    print("other thread's");
                }
            });
            thread.start();
            thread.join();
        }
    }

    @Test
    void shouldLimitValuesAndRecords() {
        List<String> lines = run(LongNames.class);
        assertThat(lines.get(0)).as("cut between characters").isEqualTo("long: " + NO_SPAN + attribute(0, 33));
        StringBuilder all = new StringBuilder("all: " + NO_SPAN);
        for (int i = 0; i < 6; i++) all.append(attribute(i, 33));
        assertThat(lines.get(1)).as("what fits").isEqualTo(all + " taskclock.account.t7=s");
        assertThat(lines.get(2))
                .as("after one is closed")
                .startsWith("less: ")
                .doesNotContain(".t3=")
                .contains(".t6=");
    }

    private static String attribute(int type, int characters) {
        return " taskclock.account.t" + type + "=" + "€".repeat(characters);
    }

    static final class LongNames {
        private LongNames() {}

        public static void main(String[] arguments) {
            CpuSection[] sections = new CpuSection[8];
            for (int i = 0; i < 7; i++) {
                sections[i] = CpuAccounts.type("t" + i).of("€".repeat(60)).enter();
                if (i == 0) print("long");
            }
            sections[7] = CpuAccounts.type("t7").of("s").enter();
            print("all");
            sections[3].close();
            print("less");
        }
    }

    /** The reader stops the thread at arbitrary instructions. */
    @Test
    void shouldNeverShowAMixture() {
        List<String> lines = run(Changes.class);
        assertThat(lines)
                .allMatch(line -> line.equals("invalid")
                        || line.matches(NO_SPAN
                                + " taskclock.account.a=(w{20}|x|y{90}|z{40})( taskclock.account.b=(p{70}|q))?"));
        assertThat(lines).filteredOn(line -> line.contains(".b=")).hasSizeGreaterThan(lines.size() / 20);
        assertThat(lines).filteredOn(line -> line.contains("y")).hasSizeGreaterThan(lines.size() / 20);
    }

    static final class Changes {
        private static volatile boolean isDone;

        private Changes() {}

        public static void main(String[] arguments) throws Exception {
            int[] tid = new int[1];
            Thread thread = new Thread(() -> {
                tid[0] = SystemCalls.gettid();
                change();
            });
            thread.start();
            Thread.sleep(1_000); // until the code is compiled
            String reader = Path.of(System.getProperty("test.native"), "context_reader")
                    .toAbsolutePath()
                    .toString();
            String process = Long.toString(ProcessHandle.current().pid());
            ChildJvm.run(List.of(reader, process, Integer.toString(tid[0]), "10000"))
                    .succeeded()
                    .out()
                    .lines()
                    .skip(3)
                    .forEach(System.out::println);
            isDone = true;
            thread.join();
        }

        private static void change() {
            AccountType a = CpuAccounts.type("a");
            AccountType b = CpuAccounts.type("b");
            CpuAccount[] outer = {a.of("x"), a.of("y".repeat(90)), a.of("z".repeat(40))};
            CpuAccount[] inner = {b.of("p".repeat(70)), b.of("q")};
            CpuSection always = a.of("w".repeat(20)).enter();
            for (int i = 0; !isDone; i++) {
                try (CpuSection first = outer[i % 3].enter();
                        CpuSection second = inner[i % 2].enter()) {
                    Thread.onSpinWait();
                }
            }
            always.close();
        }
    }

    @Test
    void shouldBeOffByDefault() {
        ChildJvm child = ChildJvm.run(Off.class).succeeded();
        assertThat(child.out().lines()).containsExactly("off", "schema unknown", "keys");
    }

    static final class Off {
        private Off() {}

        public static void main(String[] arguments) {
            System.out.println(ThreadContext.state());
            ThreadContext.setTrace(1, 2, 3, 0);
            try (CpuSection section = CpuAccounts.type("tenant").of("acme").enter()) {
                read(1).forEach(System.out::println);
            }
        }
    }

    @Test
    void shouldNotDefineASecondVariable() {
        assertThat(run(OtherVariable.class))
                .hasSize(5)
                .satisfies(lines -> assertThat(lines.get(0))
                        .startsWith("off: ")
                        .endsWith("/libtestcontext.so defines otel_thread_ctx_v1 already"))
                .satisfies(lines -> assertThat(lines.get(1)).isEqualTo("schema unknown"))
                .satisfies(lines -> assertThat(lines.get(3)).matches("variable in .*/libtestcontext.so"))
                .satisfies(lines -> assertThat(lines.get(4)).isEqualTo("none"));
    }

    static final class OtherVariable {
        private OtherVariable() {}

        public static void main(String[] arguments) {
            System.load(Path.of(System.getProperty("test.native"), "libtestcontext.so")
                    .toAbsolutePath()
                    .toString());
            System.out.println(ThreadContext.state());
            try (CpuSection section = CpuAccounts.type("tenant").of("acme").enter()) {
                read(1).forEach(System.out::println);
            }
        }
    }

    @Test
    void shouldNotPublishASecondProcessContext() {
        assertThat(run(OtherProcessContext.class))
                .containsExactly("off: other code in this process publishes OTEL_CTX already");
    }

    static final class OtherProcessContext {
        private OtherProcessContext() {}

        public static void main(String[] arguments) {
            if (SystemCalls.mapMemfd("OTEL_CTX".getBytes(StandardCharsets.UTF_8), new byte[32]) == 0)
                throw new AssertionError("cannot map");
            System.out.println(ThreadContext.state());
            CpuAccounts.type("tenant").of("acme").enter().close();
        }
    }

    @Test
    void shouldShareRecordsBetweenCopies() {
        assertThat(run(Copies.class))
                .containsExactly(
                        "both: " + NO_SPAN + " taskclock.account.tenant=first taskclock.account.query=second",
                        "one variable");
    }

    static final class Copies {
        private Copies() {}

        public static void main(String[] arguments) throws Exception {
            try (LibraryCopy second = new LibraryCopy(Path.of(System.getProperty("test.jar")), LibraryCopy.PACKAGE);
                    CpuSection section = CpuAccounts.type("tenant").of("first").enter();
                    AutoCloseable other = second.enter("query", "second")) {
                print("both");
                long variables = read(1).stream()
                        .filter(line -> line.startsWith("variable"))
                        .count();
                System.out.println(variables == 1 ? "one variable" : variables + " variables");
            }
        }
    }
}
