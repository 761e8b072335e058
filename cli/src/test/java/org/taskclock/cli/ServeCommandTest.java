// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.TestCertificate;

/** {@code taskclock serve} as a child process. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
class ServeCommandTest {
    private static final Pattern URL = Pattern.compile("serving on (\\S+)/\n");

    @TempDir
    private Path directory;

    private HttpClient client = HttpClient.newHttpClient();
    private Process process;
    private Path err;
    private String url;

    private void start(String... options) throws Exception {
        err = directory.resolve("err");
        ProcessBuilder builder = CliResult.builder("serve", "--data", data());
        builder.command().addAll(List.of(options));
        process = builder.redirectError(err.toFile()).start();
        url = await(() -> {
            Matcher found = URL.matcher(Files.readString(err));
            if (found.find()) return found.group(1);
            assertThat(process.isAlive()).as(Files.readString(err)).isTrue();
            return null;
        });
    }

    private String data() {
        return directory.resolve("data").toString();
    }

    @AfterEach
    void end() throws InterruptedException {
        if (process != null) process.destroyForcibly().waitFor();
    }

    private <T> T await(Callable<T> condition) throws Exception {
        long end = System.nanoTime() + SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        for (T result; System.nanoTime() < end; Thread.sleep(20)) {
            result = condition.call();
            if (result != null) return result;
        }
        throw new AssertionError(Files.readString(err));
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofString());
    }

    private JsonObject json(String path) throws IOException, InterruptedException {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    /** Waits until a JVM is measured, and returns its id. */
    private String awaitJvm(long pid) throws Exception {
        return await(() -> {
            for (JsonElement element : json("/api/jvms").getAsJsonArray("jvms")) {
                JsonObject jvm = element.getAsJsonObject();
                if (jvm.get("pid").getAsLong() == pid && !jvm.get("cpu").isJsonNull())
                    return jvm.get("id").getAsString();
            }
            return null;
        });
    }

    /** Returns the CPU time of a process in milliseconds, from what pidstat reads. */
    private static long cpuMillis(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        long millisPerTick = 10; // USER_HZ
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * millisPerTick;
    }

    private static double sum(JsonElement column) {
        double sum = 0;
        for (JsonElement value : column.getAsJsonArray()) if (!value.isJsonNull()) sum += value.getAsDouble();
        return sum;
    }

    /** Returns the CPU time in the columns user and system, in milliseconds. */
    private static double millis(JsonObject columns, JsonObject pools) {
        double percents = sum(columns.get("user")) + sum(columns.get("system"));
        return percents / 100 * pools.get("step").getAsDouble();
    }

    private static JsonObject mainPool(JsonObject pools) {
        for (JsonElement pool : pools.getAsJsonArray("pools"))
            if (pool.getAsJsonObject().get("pool").getAsString().equals("main")) return pool.getAsJsonObject();
        return null;
    }

    /** Adds up what a view has of a JVM since a time, in milliseconds. */
    private double query(String view, long pid, long from, String condition) throws Exception {
        CliResult result = CliResult.runHere(
                "query",
                "--data",
                data(),
                "--format",
                "csv",
                "SELECT sum(cpu_ns)::DOUBLE / 1e6 FROM " + view + " WHERE pid = " + pid + " AND epoch_ms(time) >= "
                        + from + condition);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return Double.parseDouble(result.out().lines().skip(1).findFirst().orElseThrow());
    }

    /** The load begins and ends while it is measured, so that it does not matter when each of them reads its clock. */
    @Test
    void shouldAgreeWithQueryAndTheKernelAndTheProgram() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=3")) {
            start("--listen", "127.0.0.1:0", "--match", "LoadProgram idle=3");
            long pid = load.pid();
            String id = awaitJvm(pid);
            await(() -> {
                long millis = cpuMillis(pid);
                Thread.sleep(2_000);
                return cpuMillis(pid) - millis <= 10 ? true : null;
            });
            LoadJvm.Reference before = load.reference();
            long millisBefore = cpuMillis(pid);
            long from = System.currentTimeMillis() / 1_000 * 1_000;
            for (int i = 0; i < 6; i++) {
                load.send("burn 500");
                Thread.sleep(300);
            }
            double expected = cpuMillis(pid) - millisBefore;
            double tolerance = 0.02 * (System.currentTimeMillis() - from); // 2 percent points
            LoadJvm.Reference after = load.reference();
            assertThat(after.cpuSince(before, "(process)") / 1e6).isCloseTo(expected, within(tolerance));
            assertThat(expected).isBetween(3_000.0, 3_000 + tolerance + 500);

            // The history is written within five seconds, and the last thread is read within ten.
            String path = "/api/jvms/" + id + "/pools?from=" + from + "&to=" + (from + 60_000);
            JsonObject pools = await(() -> {
                JsonObject found = json(path);
                JsonObject main = mainPool(found);
                boolean isComplete = main != null && millis(main, found) > 3_000 - tolerance;
                return isComplete && millis(found.getAsJsonObject("process"), found) > expected - tolerance
                        ? found
                        : null;
            });
            assertThat(millis(pools.getAsJsonObject("process"), pools)).isCloseTo(expected, within(tolerance));
            assertThat(millis(mainPool(pools), pools)).isCloseTo(3_000, within(tolerance));
            assertThat(query("process_cpu", pid, from, "")).isCloseTo(expected, within(tolerance));
            assertThat(query("pool_cpu", pid, from, " AND pool = 'main'")).isCloseTo(3_000, within(tolerance));
            assertThat(query("thread_cpu", pid, from, " AND name = 'main'")).isCloseTo(3_000, within(tolerance));
        }
    }

    private static void assertUsageError(CliResult result, String message) {
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.USAGE);
        assertThat(result.err()).startsWith("taskclock: ").contains(message);
        assertThat(result.err().lines()).hasSize(1);
        assertThat(result.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --listen 10077                           | --listen 10077: must be HOST:PORT
                    --listen localhost:99999                | --listen localhost:99999: must be HOST:PORT
                    --listen no.such.host.invalid:0         | unknown host
                    --listen 0.0.0.0:0                      | is reachable from the network: add --token-file
                    --listen :0                             | is reachable from the network: add --token-file
                    --listen 192.0.2.1:0 --token-file TOKEN | cannot listen on 192.0.2.1:0
                    --token-file /nonexistent/token         | /nonexistent/token: no such file
                    --token-file /proc/self/mem             | --token-file /proc/self/mem: cannot be read
                    --token-file /dev/null                  | must be one line of at least 16 characters
                    --web.config.file /nonexistent.yml      | /nonexistent.yml: no such file
                    --data /dev/null                        | --data /dev/null: is not a directory
                    --data /proc/nonexistent                | --data /proc/nonexistent: cannot be created
                    --keep 1h,7d                            | --keep 1h,7d: must be three times
                    --keep 1h,7d,x                          | --keep 1h,7d,x:
                    --keep 7d,1h,365d                       | must be kept at least as long
                    --max-size x                            | --max-size
                    --service nothing                       | --service nothing: must be otel
                    --external-url watch.example            | --external-url watch.example: must be a URL such as
                    --allow-actions --no-attach             | cannot be combined with --no-attach
                    --oidc-issuer https://a.example         | add --oidc-client-id ID
                    --oidc-act-role a                       | --oidc-issuer is missing
                    --oidc-issuer ftp://a --oidc-client-id a | --oidc-issuer ftp://a: must be a URL such as
                    --webhook ftp://a.example/secret        | --webhook: must be a URL such as
                    --webhook-file /nonexistent             | --webhook-file /nonexistent: no such file
                    --history-upload bucket                 | --history-upload bucket: must be like s3://
                    surplus                                 | surplus
                    """)
    void shouldReportInvalidOptionsInOneLine(String options, String message) throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef");
        Files.setPosixFilePermissions(token, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        String all = "serve " + options.replace("TOKEN", token.toString());
        if (!options.contains("--data")) all += " --data " + data();
        assertUsageError(CliResult.runHere(all.split(" ")), message);
    }

    @Test
    void shouldReportAPortThatIsInUse() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + other.getLocalPort();
            assertUsageError(
                    CliResult.runHere("serve", "--listen", address, "--data", data()), "cannot listen on " + address);
        }
    }

    @Test
    void shouldWriteTheLastSecondsOnSigterm() throws Exception {
        try (LoadJvm load = LoadJvm.start("-Dtest=sigterm", "busy")) {
            start("--listen", "127.0.0.1:0", "--match", "test=sigterm");
            String id = awaitJvm(load.pid());
            // Right after the history was written, so that the next seconds are in memory only.
            await(() -> get("/api/jvms/" + id + "/pools").statusCode() == 200 ? true : null);
            long written = lastWritten(id);
            long next = await(() -> lastWritten(id) > written ? lastWritten(id) : null);
            Thread.sleep(3_000);
            long before = System.currentTimeMillis();
            process.toHandle().destroy();
            assertThat(CliResult.exitCode(process)).isEqualTo(Main.OK);
            assertThat(Files.readString(err).lines()).hasSize(1);
            CliResult query = CliResult.runHere(
                    "query", "--data", data(), "--format", "csv", "SELECT epoch_ms(max(time)) FROM process_cpu");
            assertThat(query.exitCode()).as(query.err()).isZero();
            long last = Long.parseLong(query.out().lines().skip(1).findFirst().orElseThrow());
            assertThat(last).isGreaterThan(next + 1_000).isBetween(before - 3_000, before + 5_000);
        }
    }

    /** Returns the start of the last second that the history has, in milliseconds; 0 if there is none. */
    private long lastWritten(String id) throws IOException, InterruptedException {
        JsonObject pools = json("/api/jvms/" + id + "/pools");
        JsonArray user = pools.getAsJsonObject("process").getAsJsonArray("user");
        for (int i = user.size() - 1; i >= 0; i--)
            if (!user.get(i).isJsonNull())
                return pools.getAsJsonArray("times").get(i).getAsLong();
        return 0;
    }

    @Test
    void shouldShowThePageSoonAfterTheStart() throws Exception {
        long start = System.nanoTime();
        start("--listen", "127.0.0.1:0");
        HttpResponse<String> page = get("/");
        // About a second; more on a busy machine.
        assertThat(System.nanoTime() - start).isLessThan(SECONDS.toNanos(15));
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("<title>TaskClock");
        await(() -> get("/-/ready").statusCode() == 200 ? true : null);
        assertThat(json("/api/info").get("version").getAsString()).isEqualTo(System.getProperty("project.version"));
    }

    @Test
    void shouldListenOnTheNetworkWithClientCertificates() throws Exception {
        TestCertificate certificate = TestCertificate.create(directory, "server");
        Path config = Files.writeString(directory.resolve("web.yml"), """
                tls_server_config:
                  cert_file: server.crt
                  key_file: server.key
                  client_auth_type: RequireAndVerifyClientCert
                  client_ca_file: server.crt
                """);
        start("--listen", "0.0.0.0:0", "--web.config.file", config.toString());
        url = url.replace("0.0.0.0", "127.0.0.1");
        assertThat(url).startsWith("https://");
        client = certificate.client(certificate);
        assertThat(json("/api/info").has("version")).isTrue();
        client = certificate.client(null);
        assertThatThrownBy(() -> get("/api/info")).isInstanceOf(IOException.class);
    }
}
