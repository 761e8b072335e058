// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Asks Spark, on a local cluster of two workers, and DuckDB the same questions about the exports of several hosts. The
 * argument is the directory of the exports. Exit code 1 if an answer differs.
 */
public final class CompareEngines {
    private static final List<String> QUESTIONS = List.of(
            "SELECT count(*), sum(cpu_ns), sum(user_ns), sum(system_ns) FROM pool_cpu",
            "SELECT host, count(*), sum(cpu_ns) FROM pool_cpu GROUP BY host ORDER BY host",
            "SELECT pool, kind, sum(cpu_ns), max(threads) FROM pool_cpu GROUP BY pool, kind ORDER BY pool, kind",
            "SELECT host, service, pool, sum(cpu_ns) AS cpu FROM pool_cpu GROUP BY host, service, pool"
                    + " ORDER BY cpu DESC, host LIMIT 5",
            "SELECT p.host, p.jvm, sum(p.cpu_ns) - sum(q.cpu_ns) AS difference FROM"
                    + " (SELECT host, jvm, sum(cpu_ns) AS cpu_ns FROM pool_cpu GROUP BY host, jvm) p"
                    + " JOIN (SELECT host, jvm, sum(cpu_ns) AS cpu_ns FROM process_cpu GROUP BY host, jvm) q"
                    + " ON p.host = q.host AND p.jvm = q.jvm GROUP BY p.host, p.jvm ORDER BY p.host, p.jvm LIMIT 3",
            "SELECT min(minute), max(minute), count(*) FROM (SELECT host, date_trunc('minute', time) AS minute,"
                    + " sum(cpu_ns) AS cpu FROM pool_cpu GROUP BY host, date_trunc('minute', time)) m WHERE cpu > 0");

    private CompareEngines() {}

    public static void main(String[] args) throws Exception {
        boolean isEqual = true;
        try (SparkSession spark = SparkSession.builder()
                        .master("local-cluster[2,1,1024]")
                        .appName("taskclock")
                        .config("spark.ui.enabled", false)
                        .config("spark.sql.session.timeZone", "UTC")
                        .config("spark.driver.host", "127.0.0.1")
                        .config("spark.driver.bindAddress", "127.0.0.1")
                        .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
                        .getOrCreate();
                Connection duckdb = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = duckdb.createStatement()) {
            statement.execute("SET TimeZone = 'UTC'");
            for (String view : List.of("pool_cpu", "process_cpu")) {
                spark.read().parquet(args[0] + "/" + view).createOrReplaceTempView(view);
                statement.execute("CREATE VIEW " + view + " AS FROM read_parquet('" + args[0] + "/" + view
                        + "/**/*.parquet', hive_partitioning = true)");
            }
            System.out.println("Spark " + spark.version() + " on " + spark.sparkContext().master() + " with "
                    + (spark.sparkContext().getExecutorMemoryStatus().size() - 1) + " executors; DuckDB "
                    + duckdb.getMetaData().getDatabaseProductVersion());
            for (String question : QUESTIONS) {
                List<String> bySpark = new ArrayList<>();
                for (Row row : spark.sql(question).collectAsList()) bySpark.add(text(row));
                List<String> byDuckDb = new ArrayList<>();
                try (ResultSet result = statement.executeQuery(question)) {
                    while (result.next()) byDuckDb.add(text(result));
                }
                boolean isSame = bySpark.equals(byDuckDb) && !bySpark.isEmpty();
                isEqual &= isSame;
                System.out.println("\n" + question);
                if (isSame) {
                    bySpark.forEach(line -> System.out.println("  both    " + line));
                } else {
                    bySpark.forEach(line -> System.out.println("  Spark   " + line));
                    byDuckDb.forEach(line -> System.out.println("  DuckDB  " + line));
                }
            }
        }
        System.out.println(isEqual ? "\nAll answers are the same." : "\nAnswers differ.");
        System.exit(isEqual ? 0 : 1);
    }

    private static String text(Row row) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < row.size(); i++) values.add(text(row.get(i)));
        return String.join(" | ", values);
    }

    private static String text(ResultSet row) throws Exception {
        List<String> values = new ArrayList<>();
        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) values.add(text(row.getObject(i)));
        return String.join(" | ", values);
    }

    private static String text(Object value) {
        if (value instanceof java.sql.Timestamp time) return time.toInstant().toString();
        if (value instanceof java.time.OffsetDateTime time) return time.toInstant().toString();
        return String.valueOf(value);
    }
}
