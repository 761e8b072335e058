// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStore;
import org.jclouds.blobstore.BlobStoreContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The histories of two hosts in an object storage that runs here. */
class RemoteHistoryTest {
    private static final String URL = "s3://metrics/taskclock";
    private static final LocalDate FIRST = LocalDate.parse("2026-11-20");
    private static final LocalDate LAST = LocalDate.parse("2026-11-22");
    private static final String SUM =
            "SELECT host, count(*) AS n, sum(cpu_ns) AS ns FROM pool_cpu GROUP BY ALL ORDER BY host";

    @TempDir
    Path directory;

    private S3Proxy server;
    private BlobStore blobs;

    @BeforeEach
    void startServer() throws Exception {
        Properties files = new Properties();
        files.setProperty(
                "jclouds.filesystem.basedir",
                Files.createDirectory(directory.resolve("bucket")).toString());
        BlobStoreContext context = ContextBuilder.newBuilder("filesystem-nio2")
                .credentials("id", "secret")
                .overrides(files)
                .build(BlobStoreContext.class);
        blobs = context.getBlobStore();
        blobs.createContainerInLocation(null, "metrics");
        server = S3Proxy.builder()
                .blobStore(blobs)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, "id", "secret")
                .build();
        server.start();
        System.setProperty("aws.endpointUrl", "http://127.0.0.1:" + server.getPort());
        System.setProperty("aws.accessKeyId", "id");
        System.setProperty("aws.secretAccessKey", "secret");
        System.setProperty("aws.region", "us-east-1");
    }

    @AfterEach
    void stopServer() throws Exception {
        server.stop();
        for (String name : List.of("endpointUrl", "accessKeyId", "secretAccessKey", "region"))
            System.clearProperty("aws." + name);
    }

    private static JvmKey jvm(String host) {
        JvmKey jvm = Samples.jvm(7);
        return new JvmKey(
                jvm.id() + host,
                host,
                7,
                jvm.service(),
                jvm.command(),
                null,
                null,
                Instant.parse("2026-11-19T00:00:00Z"));
    }

    /** Writes ten seconds of each day. */
    private Path write(String host) throws HistoryException {
        Path data = directory.resolve(host);
        try (History history = DuckDbHistory.open(data, HistoryOptions.DEFAULT)) {
            for (LocalDate day = FIRST; !day.isAfter(LAST); day = day.plusDays(1))
                for (int i = 1; i <= 10; i++)
                    history.add(Samples.sample(
                            jvm(host),
                            Instant.parse(day + "T12:00:00Z").plusSeconds(i),
                            List.of(Samples.pool("worker", 1_000, 0)),
                            List.of(Samples.thread(8, "worker-1", 1_000, 0))));
        }
        return data;
    }

    private static int upload(Path data, LocalDate today) throws IOException {
        return new HistoryUpload(data, URL).run(today);
    }

    private List<List<Object>> query(String sql, LocalDate since, LocalDate until, String... hosts) throws IOException {
        return query(new RemoteHistory(URL, directory.resolve("cache")), sql, since, until, hosts);
    }

    private static List<List<Object>> query(
            RemoteHistory history, String sql, LocalDate since, LocalDate until, String... hosts) throws IOException {
        List<List<Object>> rows = new ArrayList<>();
        RemoteHistory.Range range = new RemoteHistory.Range(since, until, List.of(hosts));
        history.query(sql, range, 1_000, Duration.ofMinutes(1), new RowConsumer() {
            @Override
            public void columns(List<String> names) {
                // Those of the SQL.
            }

            @Override
            public void row(List<Object> row) {
                rows.add(row);
            }
        });
        return rows;
    }

    private List<Path> cached() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("cache"))) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void shouldAnswerFromManyHosts() throws Exception {
        Path alpha = write("alpha");
        // Not a number in the answer, although it looks like one.
        Path other = write("10");
        assertThat(upload(alpha, LAST)).as("days before the last one").isEqualTo(2);
        assertThat(upload(alpha, LAST)).as("again").isZero();
        assertThat(upload(alpha, LAST.plusDays(1))).isEqualTo(1);
        assertThat(upload(other, LAST.plusDays(1))).isEqualTo(3);

        assertThat(query(SUM, FIRST, LAST))
                .containsExactly(List.of("10", 30L, 30_000L), List.of("alpha", 30L, 30_000L));
        assertThat(query(SUM, FIRST, FIRST, "alpha")).containsExactly(List.of("alpha", 10L, 10_000L));
        assertThat(query("SELECT DISTINCT host, service FROM jvm ORDER BY host", FIRST, LAST))
                .hasSize(2);
        assertThat(query("SELECT name, sum(cpu_ns) FROM thread_cpu GROUP BY name", LAST, LAST, "10"))
                .containsExactly(List.of("worker-1", 10_000L));
        assertThat(query("SELECT time::VARCHAR FROM pool_cpu ORDER BY time LIMIT 1", FIRST, LAST))
                .containsExactly(List.of("2026-11-20 12:00:00+00"));
    }

    @Test
    void shouldCopyOnlyWhatIsNeededAndLimitTheCache() throws Exception {
        upload(write("alpha"), LAST.plusDays(1));
        query(SUM, LAST, LAST);
        assertThat(cached()).hasSize(1).allMatch(file -> file.toString().contains("pool_cpu/host=alpha/date=" + LAST));
        query(SUM, FIRST, LAST);
        assertThat(cached()).hasSize(3);

        long day = Files.size(cached().get(0));
        RemoteHistory small = new RemoteHistory(URL, directory.resolve("cache"), day + day / 2);
        query(small, SUM, FIRST, FIRST);
        assertThat(cached()).as("the others make room").hasSize(1);
        assertThatThrownBy(() -> query(small, SUM, FIRST, LAST))
                .isInstanceOf(HistoryException.class)
                .hasMessageContaining("select fewer days or hosts");

        blobs.removeBlob("metrics", "taskclock/pool_cpu/host=alpha/date=" + FIRST + "/part.parquet");
        assertThatThrownBy(() -> query(SUM, FIRST, FIRST)).hasMessageContaining("has no pool_cpu");
    }

    @Test
    void shouldReadNothingElse() throws Exception {
        upload(write("alpha"), LAST.plusDays(1));
        for (String sql : List.of(
                "FROM read_csv('/etc/passwd'), pool_cpu",
                "FROM '/etc/passwd', pool_cpu",
                "COPY pool_cpu TO '/tmp/x'",
                "SELECT * FROM read_parquet('s3://metrics/taskclock/*'), pool_cpu"))
            assertThatThrownBy(() -> query(sql, FIRST, LAST)).isInstanceOf(HistoryException.class);
        for (String key :
                List.of("../../x", "pool_cpu/host=../../../date=2026-11-20/part.parquet", "pool_cpu/host=a/x"))
            put(key, "not a file of a history");
        assertThat(query(SUM, FIRST, LAST)).hasSize(1);
    }

    private void put(String key, String text) {
        try {
            blobs.putBlob(
                    "metrics",
                    blobs.blobBuilder("taskclock/" + key).payload(text).build());
        } catch (RuntimeException e) {
            // The server does not store this key.
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "PAR1 is where it begins, but it breaks off"})
    void shouldRejectAFileThatIsCutOff(String content) throws Exception {
        put("pool_cpu/host=alpha/date=" + FIRST + "/part.parquet", content);
        assertThatThrownBy(() -> query(SUM, FIRST, FIRST))
                .isInstanceOf(HistoryException.class)
                .hasMessageContaining("host=alpha/date=2026-11-20/part.parquet: is not a whole Parquet file");
        assertThat(cached()).isEmpty();
    }

    @Test
    void shouldNotShowAFileThatIsOnlyHalfUploaded() throws Exception {
        upload(write("alpha"), LAST.plusDays(1));
        String key = "/metrics/taskclock/pool_cpu/host=beta/date=" + FIRST + "/part.parquet";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort());
                OutputStream out = socket.getOutputStream()) {
            out.write(("PUT " + key + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nPAR1")
                    .getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(query(SUM, FIRST, LAST)).extracting(row -> row.get(0)).containsExactly("alpha");
    }

    @Test
    void shouldGoOnWithTheDayThatFailed() throws Exception {
        Path data = write("alpha");
        server.stop();
        assertThatThrownBy(() -> upload(data, LAST)).hasMessageContaining("check AWS_ENDPOINT_URL");
        assertThat(data.resolve("uploaded")).doesNotExist();
        startAgain();
        assertThat(upload(data, LAST)).isEqualTo(2);
        assertThat(data.resolve("uploaded")).content().startsWith("2026-11-21 " + URL);
    }

    private void startAgain() throws Exception {
        server = S3Proxy.builder()
                .blobStore(blobs)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, "id", "secret")
                .build();
        server.start();
        System.setProperty("aws.endpointUrl", "http://127.0.0.1:" + server.getPort());
    }

    @Test
    void shouldSayWhatIsWrong() throws Exception {
        assertThatThrownBy(() -> query(SUM, FIRST, LAST)).hasMessageContaining("has no pool_cpu from 2026-11-20");
        assertThatThrownBy(() -> new HistoryUpload(write("alpha"), "s3://nobody").run(LAST))
                .hasMessageContaining("there is no such bucket");
        System.setProperty("aws.secretAccessKey", "wrong");
        assertThatThrownBy(() -> query(SUM, FIRST, LAST)).hasMessageContaining("access denied: check the credentials");
        for (String url : List.of("", "metrics", "http://metrics/x", "s3://", "s3://A_B/x"))
            assertThatThrownBy(() -> new RemoteHistory(url, directory))
                    .hasMessage(url + ": must be like s3://BUCKET/PREFIX");
    }
}
