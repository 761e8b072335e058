// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code taskclock attach} and {@code detach}, on a JVM that runs. */
class AttachTest {
    /** Waits until it is ended. */
    static final class Idle {
        private Idle() {}

        public static void main(String[] args) throws InterruptedException {
            Thread.sleep(120_000);
        }
    }

    private Process target;

    @AfterEach
    void end() throws InterruptedException {
        if (target != null) target.destroyForcibly().waitFor();
    }

    private String startTarget(String... options) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Idle.class.getName()));
        target = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(DISCARD)
                .start();
        // Attaching to a JVM that is not up yet would end it.
        Thread.sleep(1_500);
        return Long.toString(target.pid());
    }

    private static String done(String... arguments) throws IOException, InterruptedException {
        Child child = Child.run(arguments);
        assertThat(child).isEqualTo(new Child(Main.OK, child.out(), ""));
        return child.out();
    }

    @Test
    void shouldAttachChangeAndDetach() throws IOException, InterruptedException {
        String pid = startTarget();
        assertThat(done("attach", pid))
                .startsWith("attaching to " + pid)
                .contains("agent: version=", "threadmxbean=on", "yield=pass")
                .doesNotContain("left out");
        assertThat(done("attach", pid, "yield=count")).contains("yield=count");
        assertThat(done("detach", pid)).contains("threadmxbean=off", "yield=pass");
        assertThat(done("attach", pid, "yield=off")).contains("threadmxbean=on", "yield=off");
        assertThat(target.isAlive()).isTrue();
    }

    @Test
    void shouldListWhatItWouldChange() throws IOException, InterruptedException {
        String pid = startTarget();
        String plan = done("attach", "--dry-run", pid, "yield=count,bean=read");
        assertThat(plan)
                .startsWith("attaching to " + pid + " would change:\n")
                .contains("four native methods of sun.management.ThreadImpl", "behind Thread.yield", "read-only")
                .endsWith("Nothing was changed.\n");
        assertThat(plan.contains("java.lang.VirtualThread"))
                .isEqualTo(Runtime.version().feature() >= 21);
        assertThat(done("attach", "--dry-run", pid, "threadmxbean=off,vthreads=off,bean=off,jfr=off"))
                .doesNotContain("ThreadImpl", "VirtualThread", "MXBean", "event");
        Child status = Child.run("status", pid);
        assertThat(status)
                .isEqualTo(new Child(
                        Main.FAILED,
                        "",
                        "taskclock: process " + pid + " has no agent: run taskclock attach " + pid + "\n"));
        assertThat(Child.run("attach", "--dry-run", pid, "yield").exitCode()).isEqualTo(Main.USAGE);
    }

    @Test
    void shouldTellItsHealth() throws IOException, InterruptedException {
        String pid = startTarget();
        done("attach", pid, "yield=count");
        String vthreads = Runtime.version().feature() >= 21 ? "on" : "off";
        assertThat(done("status", pid))
                .startsWith("agent ")
                .contains(" in process " + pid + "\n", "threadmxbean   on\n", "yield          count\n")
                .contains("vthreads       " + vthreads + "\n", "failures       0\n");
        assertThat(done("status", "--json", pid)).contains("{\"name\":\"bean\",\"state\":\"on\"}", "\"failures\":0");
        done("detach", pid);
        assertThat(Child.run("status", pid).exitCode()).isEqualTo(Main.FAILED);
        assertThat(Child.run("status", "999999999").exitCode()).isEqualTo(Main.NO_PROCESS);
        assertThat(Child.run("status").exitCode()).isEqualTo(Main.USAGE);
    }

    @Test
    void shouldShowWhatDoesNotWork() throws IOException, InterruptedException {
        String pid = startTarget();
        done("attach", pid, "summary=/nonexistent");
        Child status = Child.run("status", pid);
        assertThat(status.exitCode()).isEqualTo(Main.FAILED);
        assertThat(status.out()).contains("summary        off: /nonexistent is no folder that can be written to");
    }

    @Test
    void shouldSayWhatIsWrongWithOptions() throws IOException, InterruptedException {
        String pid = startTarget();
        Child wrong = Child.run("attach", pid, "yield=sometimes");
        assertThat(wrong.exitCode()).isEqualTo(Main.FAILED);
        assertThat(wrong.err())
                .isEqualTo("taskclock: agent: option \"yield=sometimes\": yield is one of pass, count, off\n");
        assertThat(Child.run("attach", pid, "detach").exitCode()).isEqualTo(Main.USAGE);
        assertThat(target.isAlive()).isTrue();
    }

    @Test
    void shouldSayWhatIsWrongWithTheProcess() throws IOException, InterruptedException {
        Child none = Child.run("attach", "999999999");
        assertThat(none.exitCode()).isEqualTo(Main.NO_PROCESS);
        assertThat(none.err()).isEqualTo("taskclock: there is no process 999999999: jcmd lists the JVMs there are\n");

        Process sleep = new ProcessBuilder("sleep", "60").start();
        Child noJvm = Child.run("detach", Long.toString(sleep.pid()));
        sleep.destroy();
        assertThat(noJvm.exitCode()).isEqualTo(Main.FAILED);
        assertThat(noJvm.err()).contains("is not a JVM");

        String pid = startTarget("-XX:+DisableAttachMechanism");
        Child refused = Child.run("attach", pid);
        assertThat(refused.exitCode()).isEqualTo(Main.FAILED);
        assertThat(refused.err()).contains("-XX:+DisableAttachMechanism").doesNotContain("Exception");

        assertThat(Child.run("attach").exitCode()).isEqualTo(Main.USAGE);
        assertThat(Child.run("attach", "me").exitCode()).isEqualTo(Main.USAGE);
    }
}
