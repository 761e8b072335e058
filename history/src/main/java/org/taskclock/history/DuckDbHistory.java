// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;

/** The history in a DuckDB file. Only one process at a time can write to a directory; others send it their queries. */
public final class DuckDbHistory implements History {
    /** Reads from the file. */
    private interface Reading<T> {
        T read(Connection connection) throws SQLException, IOException;
    }

    /** Further requests wait, because each needs memory. */
    private static final int MAX_READERS = 2;

    private static final int MAX_WAIT_SECONDS = 30;

    private final Semaphore readers = new Semaphore(MAX_READERS, true);
    private final HistoryDatabase database;
    private final WriterThread writer;
    private final QueryServer queries;

    private DuckDbHistory(HistoryDatabase database, WriterThread writer, QueryServer queries) {
        this.database = database;
        this.writer = writer;
        this.queries = queries;
    }

    /**
     * Opens the history in a directory, which is created if it does not exist. A damaged file is set aside, see
     * {@link HistoryStatus#setAside}.
     *
     * @throws HistoryException if the directory cannot be used, for instance because another process writes to it
     */
    public static DuckDbHistory open(Path directory, HistoryOptions options) throws HistoryException {
        HistoryDatabase database = HistoryDatabase.open(directory);
        try {
            QueryServer queries = QueryServer.start(database);
            WriterThread writer = new WriterThread(database, options);
            writer.start();
            return new DuckDbHistory(database, writer, queries);
        } catch (HistoryException | RuntimeException e) {
            database.close();
            throw e;
        }
    }

    @Override
    public void add(HistorySample sample) {
        writer.add(sample);
    }

    @Override
    public void add(Mark mark) {
        writer.add(mark);
    }

    @Override
    public void add(HistoryProfile profile) {
        writer.add(profile);
    }

    @Override
    public HistoryStatus status() {
        return writer.status();
    }

    @Override
    public List<JvmHistory> jvms(Instant from, Instant to) throws HistoryException {
        return read(connection -> HostReader.jvms(connection, from, to));
    }

    @Override
    public PoolSeries pools(String jvmId, Instant from, Instant to, int maxPoints) throws HistoryException {
        return read(connection -> {
            int points = SeriesReader.points(maxPoints, SeriesReader.countPools(connection, jvmId));
            return new SeriesReader(connection, jvmId, from, to, points).pools();
        });
    }

    @Override
    public ThreadSeries threads(String jvmId, Instant from, Instant to, int maxPoints, int maxThreads)
            throws HistoryException {
        int points = SeriesReader.points(maxPoints, maxThreads);
        return read(connection -> new SeriesReader(connection, jvmId, from, to, points).threads(maxThreads));
    }

    @Override
    public StackHistory stacks(String jvmId, Instant from, Instant to, String pool, int maxStacks)
            throws HistoryException {
        return read(connection -> StackReader.read(connection, jvmId, from, to, pool, maxStacks));
    }

    @Override
    public List<Mark> marks(String jvmId, Instant from, Instant to) throws HistoryException {
        return read(connection -> HostReader.marks(connection, jvmId, from, to));
    }

    @Override
    public void export(String jvmId, Instant from, Instant to, ExportBy by, ExportFormat format, OutputStream out)
            throws IOException {
        Path file = read(connection -> HistoryExport.writeFile(
                database.directory, connection, HistoryExport.query(jvmId, from, to, by), format));
        // The transaction has ended, so that a slow client does not block other readers or the writer.
        try {
            Files.copy(file, out);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private <T> T read(Reading<T> reading) throws HistoryException {
        try {
            if (!readers.tryAcquire(MAX_WAIT_SECONDS, TimeUnit.SECONDS))
                throw new HistoryException("too many requests for the history at once: try again later");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new HistoryException("interrupted", e);
        }
        try (Connection connection = database.reader()) {
            return reading.read(connection);
        } catch (SQLException e) {
            writer.readFailed(e);
            throw new HistoryException("the history cannot be read: " + Failures.describe(e), e);
        } catch (HistoryException e) {
            throw e;
        } catch (IOException e) {
            throw new HistoryException(Failures.describe(e), e);
        } finally {
            readers.release();
        }
    }

    @Override
    public void close() {
        queries.close();
        writer.close();
        database.close();
    }
}
