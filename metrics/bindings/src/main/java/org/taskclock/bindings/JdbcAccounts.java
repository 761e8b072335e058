// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import javax.sql.DataSource;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time that JDBC statements take on the calling thread:
 *
 * <pre>{@code
 * DataSource counted = JdbcAccounts.wrap(dataSource, "orders");
 * }</pre>
 *
 * <p>The accounts have the type {@code jdbc}. Their names are that of the pool and the kind of the statement, by its
 * first keyword: {@code orders SELECT}, {@code INSERT}, {@code UPDATE}, {@code DELETE}, or {@code orders other}, which
 * includes statements that start with {@code WITH}. SQL text is never shown.
 *
 * <p>Each call of a method {@code execute...} is a section. Counted is what the driver does on the calling thread, and
 * for an embedded database also the database. Not counted: connecting, preparing, committing, reading result sets,
 * other threads, and statements of objects that {@code unwrap}, metadata, or a result set return. Waiting for the
 * database takes no CPU time.
 *
 * <p>Thread-safe, as far as the data source is.
 */
public final class JdbcAccounts {
    private JdbcAccounts() {}

    /**
     * Wraps a data source so that the statements of its connections are counted.
     *
     * @param source the data source, typically a pool
     * @param pool its name
     * @return the wrapped data source, which is {@link AutoCloseable} if the other one is
     */
    public static DataSource wrap(DataSource source, String pool) {
        if (pool == null) throw new NullPointerException("pool");
        AccountType type = CpuAccounts.type("jdbc");
        Map<StatementKind, CpuAccount> accounts = new EnumMap<>(StatementKind.class);
        for (StatementKind kind : StatementKind.values()) accounts.put(kind, type.of(pool + " " + kind.label()));
        return new SourceHandler(source, accounts).proxy(DataSource.class);
    }

    private static final class SourceHandler extends ForwardingHandler {
        private final Map<StatementKind, CpuAccount> accounts;

        SourceHandler(DataSource source, Map<StatementKind, CpuAccount> accounts) {
            super(source);
            this.accounts = accounts;
        }

        @Override
        Object call(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException {
            Object result = forward(method, arguments);
            return method.getReturnType() == Connection.class && result != null
                    ? new ConnectionHandler(result, accounts).proxy(Connection.class)
                    : result;
        }
    }

    private static final class ConnectionHandler extends ForwardingHandler {
        private final Map<StatementKind, CpuAccount> accounts;

        ConnectionHandler(Object connection, Map<StatementKind, CpuAccount> accounts) {
            super(connection);
            this.accounts = accounts;
        }

        @Override
        Object call(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException {
            Object result = forward(method, arguments);
            if (!Statement.class.isAssignableFrom(method.getReturnType()) || result == null) return result;
            boolean isPrepared = arguments != null && arguments[0] instanceof String;
            StatementKind kind = isPrepared ? StatementKind.of((String) arguments[0]) : null;
            return new StatementHandler(result, proxy, kind, accounts).proxy(method.getReturnType());
        }
    }

    private static final class StatementHandler extends ForwardingHandler {
        private final Object connection;
        private final Map<StatementKind, CpuAccount> accounts;
        /** Of the prepared statement or the batch. */
        private StatementKind kind;

        StatementHandler(
                Object statement, Object connection, StatementKind kind, Map<StatementKind, CpuAccount> accounts) {
            super(statement);
            this.connection = connection;
            this.kind = kind;
            this.accounts = accounts;
        }

        @Override
        @SuppressWarnings("try") // the section only needs to be open
        Object call(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException {
            String name = method.getName();
            if (name.equals("getConnection")) return connection;
            StatementKind named =
                    arguments != null && arguments[0] instanceof String sql ? StatementKind.of(sql) : null;
            if (name.equals("addBatch") && named != null) kind = named;
            if (!name.startsWith("execute")) return forward(method, arguments);
            CpuAccount account = accounts.get(named != null ? named : kind != null ? kind : StatementKind.OTHER);
            try (CpuSection section = account.enter()) {
                return forward(method, arguments);
            }
        }
    }
}
