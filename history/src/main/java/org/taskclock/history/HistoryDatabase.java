// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Properties;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;

/** The database file and its directory, which only this process writes to. Thread-safe. */
final class HistoryDatabase implements AutoCloseable {
    static final String FILE = "history.duckdb";
    static final String WAL = FILE + ".wal";
    static final String EXPORTS = "export";

    static final String TEMPORARY = "temp";
    private static final String DAMAGED = FILE + ".damaged-";

    /** The memory that DuckDB may use for caches and queries, outside of the heap of the JVM. */
    private static final String MEMORY = "96MB";

    /** The disk space for queries that need more memory. DuckDB's default is almost all free space. */
    private static final String MAX_TEMPORARY = "1GB";

    /** Where the server keeps recordings that were dropped on the page. */
    private static final String OPENED = "opened";

    private static final long LOCK_TIMEOUT_NANOS = 10_000_000_000L;
    private static final long LOCK_PAUSE_MILLIS = 100;

    /** Names of damaged files, such as history.duckdb.damaged-20261122T031200Z. */
    private static final DateTimeFormatter NAME_TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssSSS'Z'").withZone(ZoneOffset.UTC);

    final Path directory;
    private final FileChannel lockChannel;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    /** Null if the file cannot be opened at the moment. */
    private DuckDBConnection root;

    private volatile String setAside;

    private HistoryDatabase(Path directory, FileChannel lockChannel) {
        this.directory = directory;
        this.lockChannel = lockChannel;
    }

    /** Opens the file in a directory, and creates both if they do not exist. */
    static HistoryDatabase open(Path directory) throws HistoryException {
        HistoryDirectory.create(directory);
        HistoryDatabase database = new HistoryDatabase(directory, HistoryDirectory.lock(directory));
        try {
            database.reopen();
            return database;
        } catch (HistoryException e) {
            database.close();
            throw e;
        } catch (SQLException e) {
            database.close();
            throw new HistoryException(directory.resolve(FILE) + ": " + Failures.describe(e), e);
        }
    }

    /** Closes the file, if it is open, and opens it again. A damaged file is replaced with an empty one. */
    void reopen() throws SQLException, HistoryException {
        Lock exclusive = lock.writeLock();
        exclusive.lock();
        try {
            closeFile();
            try {
                root = connect();
            } catch (SQLException e) {
                if (Failures.isNewer(e)) throw newer(Failures.describe(e), e);
                if (!Failures.isDamage(e)) throw e;
                setAside();
                root = connect();
            }
        } finally {
            exclusive.unlock();
        }
    }

    /** Replaces the file, which is damaged, with an empty one. */
    void replace() throws SQLException, HistoryException {
        Lock exclusive = lock.writeLock();
        exclusive.lock();
        try {
            closeFile();
            setAside();
            root = connect();
        } finally {
            exclusive.unlock();
        }
    }

    private DuckDBConnection connect() throws SQLException, HistoryException {
        // Opened read-only at first, so that a file of a newer version is not modified.
        if (size(directory.resolve(FILE)) > 0) {
            try (Connection connection = connectWhenUnlocked(true)) {
                int version = HistorySchema.version(connection);
                if (version > HistorySchema.VERSION)
                    throw newer("schema " + version + ", this is " + HistorySchema.VERSION, null);
            }
        }
        DuckDBConnection connection = connectWhenUnlocked(false);
        try {
            deleteTemporaryFiles();
            HistorySchema.migrate(connection);
            return connection;
        } catch (SQLException e) {
            connection.close();
            if (!Failures.isSchema(e)) throw e;
            throw new HistoryException(
                    directory.resolve(FILE) + ": has unexpected tables (" + Failures.describe(e)
                            + "): use the version that wrote it or another --data directory",
                    e);
        }
    }

    private HistoryException newer(String detail, Throwable cause) {
        return new HistoryException(
                directory.resolve(FILE) + ": written by a newer version (" + detail
                        + "): use that version or another --data directory",
                cause);
    }

    /** A query that does not go through this process locks the file briefly. */
    private DuckDBConnection connectWhenUnlocked(boolean readOnly) throws SQLException {
        long start = System.nanoTime();
        while (true) {
            try {
                return connect(directory, readOnly);
            } catch (SQLException e) {
                if (!Failures.isLocked(e) || System.nanoTime() - start > LOCK_TIMEOUT_NANOS) throw e;
            }
            try {
                Thread.sleep(LOCK_PAUSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SQLException("interrupted", e);
            }
        }
    }

    /** Opens the file such that SQL cannot access other files, except in the directory for exports. */
    static DuckDBConnection connect(Path directory, boolean readOnly) throws SQLException {
        Properties properties = properties();
        // The write-ahead log is read when the file is opened after a crash.
        properties.setProperty("wal_autocheckpoint", "4MB");
        properties.setProperty("allow_community_extensions", "false");
        if (readOnly) properties.setProperty("duckdb.read_only", "true");
        Path absolute = directory.toAbsolutePath();
        DuckDBConnection connection =
                (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:" + absolute.resolve(FILE), properties);
        NativeLibrary.deleteTemporaryFile();
        return execute(
                connection,
                "SET temp_directory = " + quote(absolute.resolve(TEMPORARY)),
                "SET max_temp_directory_size = '" + MAX_TEMPORARY + "'",
                "SET allowed_directories = [" + quote(absolute.resolve(EXPORTS)) + "]",
                "SET enable_external_access = false",
                "SET lock_configuration = true");
    }

    /** Returns the settings of every connection. */
    static Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("threads", "1");
        properties.setProperty("memory_limit", MEMORY);
        properties.setProperty("autoinstall_known_extensions", "false");
        properties.setProperty("autoload_known_extensions", "false");
        return properties;
    }

    static String quote(Object text) {
        return "'" + text.toString().replace("'", "''") + "'";
    }

    /** Returns a connection for the thread that writes. */
    DuckDBConnection connection() throws SQLException {
        Lock shared = lock.readLock();
        shared.lock();
        try {
            if (root == null) throw new SQLException("the file is not open");
            return root.duplicate();
        } finally {
            shared.unlock();
        }
    }

    /** Returns a read-only connection with its own transaction. */
    Connection reader() throws SQLException {
        return execute(connection(), "BEGIN TRANSACTION READ ONLY");
    }

    /** Runs statements on a new connection, which is closed if they fail. */
    static DuckDBConnection execute(DuckDBConnection connection, String... statements) throws SQLException {
        try {
            Sql.execute(connection, statements);
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private void setAside() throws HistoryException {
        deleteDamaged();
        String name = DAMAGED + NAME_TIME.format(Instant.now());
        try {
            Files.move(directory.resolve(FILE), directory.resolve(name));
            if (Files.exists(directory.resolve(WAL)))
                Files.move(directory.resolve(WAL), directory.resolve(name + ".wal"));
            setAside = name;
        } catch (IOException e) {
            throw new HistoryException(
                    directory.resolve(FILE) + ": damaged, and cannot be set aside: " + Failures.describe(e), e);
        }
    }

    /** Returns the name of the last damaged file; null if there was none. */
    String setAsideName() {
        return setAside;
    }

    /** Returns the size of the file and its log in bytes. */
    long bytes() {
        return size(directory.resolve(FILE)) + size(directory.resolve(WAL));
    }

    /**
     * Returns the size of all other files, such as damaged ones, temporary ones, and recordings; not of those that
     * clients of the server have opened, which have a limit of their own: any client can send them.
     */
    long otherBytes() {
        long[] bytes = {-bytes()};
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .filter(file -> !file.startsWith(directory.resolve(OPENED)))
                    .forEach(file -> bytes[0] += size(file));
        } catch (IOException | UncheckedIOException e) {
            // A file was deleted in the meantime. The next call will not find it.
        }
        return Math.max(0, bytes[0]);
    }

    /** Deletes the damaged file, if there is one, and returns whether there was. */
    boolean deleteDamaged() {
        return deleteFiles(directory, DAMAGED);
    }

    /** Deletes leftovers of queries and exports that were killed. The file is open, so none can be running. */
    private void deleteTemporaryFiles() {
        deleteFiles(directory.resolve(TEMPORARY), "");
        deleteFiles(directory.resolve(EXPORTS), "export");
    }

    private static boolean deleteFiles(Path directory, String prefix) {
        boolean isDeleted = false;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(
                directory,
                file -> file.getFileName().toString().startsWith(prefix)
                        && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))) {
            for (Path file : files) isDeleted |= Files.deleteIfExists(file);
        } catch (IOException | DirectoryIteratorException e) {
            // It does not exist, or cannot be deleted.
        }
        return isDeleted;
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0;
        }
    }

    private void closeFile() throws SQLException {
        DuckDBConnection open = root;
        root = null;
        if (open != null) open.close();
    }

    @Override
    public void close() {
        Lock exclusive = lock.writeLock();
        exclusive.lock();
        try {
            closeFile();
        } catch (SQLException e) {
            // The file was written as far as possible.
        } finally {
            exclusive.unlock();
        }
        try {
            lockChannel.close();
        } catch (IOException e) {
            // The lock is released when the process exits.
        }
    }
}
