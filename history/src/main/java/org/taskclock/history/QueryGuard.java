// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;

/**
 * Accepts only SQL that reads the history. A read-only transaction is not enough: COPY can still write files, and some
 * functions run SQL in another transaction. DuckDB's own parser determines the type of a statement and the functions
 * that it calls.
 */
final class QueryGuard {
    /** The functions that are allowed in FROM. Others read files, change settings, or run SQL. */
    private static final Set<String> TABLE_FUNCTIONS =
            Set.of("range", "generate_series", "unnest", "duckdb_columns", "duckdb_tables", "duckdb_views");

    /** Functions outside of FROM that do more than compute a value. */
    private static final Set<String> REFUSED_FUNCTIONS =
            Set.of("write_log", "sleep_ms", "pg_sleep", "nextval", "setseed", "getvariable", "json_serialize_plan");

    private QueryGuard() {}

    /**
     * Returns the statement without comments and semicolons.
     *
     * @throws HistoryException with a message for the user, unless the SQL is one statement that only reads
     */
    static String check(Connection connection, String sql) throws SQLException, HistoryException {
        JsonObject parsed = parse(connection, sql);
        if (parsed.get("error").getAsBoolean()) {
            String message = parsed.get("error_message").getAsString();
            if (parsed.get("error_type").getAsString().equals("parser")) throw new HistoryException("SQL: " + message);
            throw new HistoryException("the history can only be read: use SELECT, DESCRIBE, or SUMMARIZE");
        }
        JsonArray statements = parsed.getAsJsonArray("statements");
        if (statements.size() != 1) throw new HistoryException("SQL: " + statements.size() + " statements: give one");
        checkFunctions(statements, false);
        return value(connection, "SELECT json_deserialize_sql(?::JSON)", parsed.toString());
    }

    private static JsonObject parse(Connection connection, String sql) throws SQLException, HistoryException {
        String json = value(connection, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", sql);
        try {
            return JsonParser.parseString(json).getAsJsonObject();
        } catch (JsonParseException e) {
            // Gson limits the depth.
            throw new HistoryException("SQL: the statement is nested too deeply", e);
        }
    }

    private static String value(Connection connection, String function, String argument) throws SQLException {
        String[] value = {null};
        Sql.query(connection, row -> value[0] = row.getString(1), function, argument);
        return value[0];
    }

    private static void checkFunctions(JsonElement element, boolean isTableFunction) throws HistoryException {
        if (element instanceof JsonArray array) {
            for (JsonElement part : array) checkFunctions(part, false);
        } else if (element instanceof JsonObject object) {
            JsonElement name = object.get("function_name");
            if (name != null && name.isJsonPrimitive()) checkFunction(name.getAsString(), isTableFunction);
            JsonElement type = object.get("type");
            boolean isTable =
                    type != null && type.isJsonPrimitive() && type.getAsString().equals("TABLE_FUNCTION");
            for (Map.Entry<String, JsonElement> part : object.entrySet())
                checkFunctions(part.getValue(), isTable && part.getKey().equals("function"));
        }
    }

    private static void checkFunction(String name, boolean isTableFunction) throws HistoryException {
        boolean isAllowed = isTableFunction ? TABLE_FUNCTIONS.contains(name) : !REFUSED_FUNCTIONS.contains(name);
        if (!isAllowed) throw new HistoryException("SQL: the function " + name + " is not available here");
    }
}
