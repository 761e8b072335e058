// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.io.IOException;
import java.util.Locale;
import java.util.SplittableRandom;

/** The documents that are searched, and the searches. */
final class Documents {
    static final int COUNT = 100_000;

    private static final int BULK = 2_500;
    private static final int USERS = 5_000;
    private static final int WORDS = 3_000;

    private Documents() {}

    /** Creates an index and fills it. */
    static void index(HttpConnection connection, String index, int shards) throws IOException {
        connection.send("PUT", "/" + index, """
                {"settings": {"number_of_shards": %d, "number_of_replicas": 0, "refresh_interval": "-1",
                  "requests.cache.enable": false},
                 "mappings": {"properties": {"user": {"type": "keyword"}, "category": {"type": "keyword"},
                  "price": {"type": "double"}, "time": {"type": "date"}, "text": {"type": "text"}}}}""".formatted(shards));
        SplittableRandom random = new SplittableRandom(1);
        for (int first = 0; first < COUNT; first += BULK) {
            StringBuilder bulk = new StringBuilder();
            for (int i = first; i < first + BULK; i++) append(bulk, i, random);
            String response = connection.send("POST", "/" + index + "/_bulk", bulk.toString());
            if (!response.contains("\"errors\":false")) throw new IOException(response);
            if ((first + BULK) % (COUNT / 4) == 0) connection.send("POST", "/" + index + "/_refresh", "");
        }
        connection.send("POST", "/" + index + "/_flush", "");
        connection.send("POST", "/" + index + "/_refresh", "");
        String count = connection.send("GET", "/" + index + "/_count", "");
        if (!count.contains("\"count\":" + COUNT + ",")) throw new IOException(count);
    }

    private static void append(StringBuilder bulk, int id, SplittableRandom random) {
        bulk.append("{\"index\":{\"_id\":\"").append(id).append("\"}}\n");
        bulk.append(String.format(
                Locale.ROOT,
                "{\"user\":\"user%d\",\"category\":\"category%d\",\"price\":%.2f,\"time\":%d,\"text\":\"",
                random.nextInt(USERS),
                random.nextInt(20),
                random.nextDouble() * 1000,
                1_700_000_000_000L + random.nextInt(1_000_000) * 10_000L));
        for (int i = 0; i < 12; i++)
            bulk.append("word").append(random.nextInt(WORDS)).append(' ');
        bulk.append("\"}\n");
    }

    /** A search that returns one of about 20 documents. */
    static byte[] small(String index, int user) {
        return HttpConnection.request(
                "POST",
                "/" + index + "/_search",
                "{\"size\":1,\"query\":{\"term\":{\"user\":\"user" + user % USERS + "\"}}}");
    }

    /** A search that reads all documents several times and returns a number of buckets. */
    static byte[] large(String index, int times, int buckets) {
        StringBuilder aggregations = new StringBuilder();
        for (int i = 0; i < times; i++) {
            aggregations.append("""
                    "a%d": {"terms": {"field": "category"}, "aggs": {
                      "price": {"percentiles": {"field": "price"}},
                      "users": {"cardinality": {"field": "user"}}}},""".formatted(i));
        }
        return HttpConnection.request("POST", "/" + index + "/_search", """
                {"size": 0, "aggs": {%s "users": {"terms": {"field": "user", "size": %d}, "aggs": {
                  "price": {"avg": {"field": "price"}}}}}}""".formatted(aggregations, buckets));
    }
}
