// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.taskclock.CpuAccounts;

/** Statements of H2, which runs them on the calling thread. */
public class JdbcAccountsTest {
    private static volatile CountedWork work;

    private final CountedWork otherWork = new CountedWork();
    private String pool;
    private Connection connection;

    /** A function of the database. */
    public static int work() {
        work.run();
        return 1;
    }

    /** A function of the database. */
    public static int fail() throws SQLException {
        work.run();
        throw new SQLException("bad order");
    }

    @BeforeEach
    void connect(TestInfo test) throws SQLException {
        work = new CountedWork();
        pool = test.getTestMethod().orElseThrow().getName();
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:" + pool + ";DB_CLOSE_DELAY=-1");
        try (Connection direct = database.getConnection();
                Statement statement = direct.createStatement()) {
            statement.execute("create alias work for '" + JdbcAccountsTest.class.getName() + ".work'");
            statement.execute("create alias fail for '" + JdbcAccountsTest.class.getName() + ".fail'");
            statement.execute("create table orders (id int)");
        }
        DataSource dataSource = database;
        String name = pool;
        // example: jdbc
        DataSource counted = JdbcAccounts.wrap(dataSource, name);
        // end
        connection = counted.getConnection();
        assertThat(work.portions()).isZero();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        assertThat(connection.isClosed()).isTrue();
    }

    private void execute(String sql) throws SQLException {
        otherWork.repeat(2);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
        otherWork.repeat(2);
    }

    private void assertCounted(String kind, long sections) {
        work.assertCounted("jdbc", pool + " " + kind, sections);
    }

    @Test
    void shouldCountStatementsByTheirKind() throws SQLException {
        execute("insert into orders values (work()), (work())");
        assertCounted("INSERT", 1);
        work = new CountedWork();
        execute("-- hint\n select work()");
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("(SELECT work() + work())")) {
            assertThat(result.next()).isTrue();
            assertThat(result.getInt(1)).isEqualTo(2);
        }
        assertCounted("SELECT", 2);
        work = new CountedWork();
        execute("Update orders set id = work() + 6");
        assertThat(work.portions()).isEqualTo(2);
        assertCounted("UPDATE", 1);
        work = new CountedWork();
        execute("delete from orders where work() = 1");
        assertCounted("DELETE", 1);
        work = new CountedWork();
        execute("with numbers (n) as (select work()) select n from numbers");
        execute("call work()");
        assertThat(CountedWork.usage("jdbc", pool + " other", 2).cpuNanos()).isGreaterThan(work.nanos() / 2);
    }

    @Test
    void shouldCountPreparedStatements() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select work() + ?")) {
            for (int i = 0; i < 4; i++) {
                statement.setInt(1, i);
                try (ResultSet result = statement.executeQuery()) {
                    otherWork.repeat(5);
                    assertThat(result.next()).isTrue();
                    assertThat(result.getInt(1)).isEqualTo(i + 1);
                }
            }
            assertThat(statement.getConnection()).isEqualTo(connection).isNotEqualTo(statement);
        }
        try (CallableStatement statement = connection.prepareCall("select work()")) {
            statement.execute();
        }
        assertThat(work.portions()).isGreaterThanOrEqualTo(5);
        assertCounted("SELECT", 5);
    }

    @Test
    void shouldCountBatches() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("insert into orders values (work())")) {
            for (int i = 0; i < 5; i++) statement.addBatch();
            assertThat(statement.executeBatch()).hasSize(5);
        }
        try (Statement statement = connection.createStatement()) {
            statement.addBatch("insert into orders values (work())");
            statement.addBatch("insert into orders values (work())");
            assertThat(statement.executeBatch()).hasSize(2);
        }
        assertThat(work.portions()).isEqualTo(7);
        assertCounted("INSERT", 2);
    }

    @Test
    void shouldThrowTheExceptionsOfTheDriver() {
        for (int i = 0; i < 4; i++)
            assertThatThrownBy(() -> execute("select fail()"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("bad order");
        assertThat(work.portions()).isEqualTo(4);
        assertCounted("SELECT", 4);
    }

    @Test
    void shouldKeepThePoolReachable() throws Exception {
        JdbcConnectionPool pooled = JdbcConnectionPool.create("jdbc:h2:mem:pooled", "", "");
        DataSource counted = JdbcAccounts.wrap(pooled, pool);
        try (Connection first = counted.getConnection()) {
            assertThat(first.equals(first.unwrap(Connection.class))).isFalse();
            assertThat(first.createStatement().getConnection()).isSameAs(first);
            assertThat(pooled.getActiveConnections()).isEqualTo(1);
        }
        assertThat(pooled.getActiveConnections()).isZero();
        assertThat(counted.isWrapperFor(JdbcConnectionPool.class)).isTrue();
        assertThat(counted.unwrap(JdbcConnectionPool.class)).isSameAs(pooled);
        pooled.dispose();
        assertThat(CpuAccounts.type("jdbc").of(pool + " SELECT").now().isComplete())
                .isTrue();
    }
}
