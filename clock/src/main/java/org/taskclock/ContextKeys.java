// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Encodes what readers must know to decode the records of threads: the message ProcessContext of OpenTelemetry's OTEP
 * 4719, with the attributes of OTEP 4947. All fields that these use are strings or messages.
 */
final class ContextKeys {
    /** The name that profilers accept. OTEP 4947 announces {@code tls_v1}, which none of them knows yet. */
    private static final String SCHEMA_VERSION = "tlsdesc_v1_dev";

    private static final String PREFIX = "taskclock.account.";

    // Numbers of fields.

    private static final int PROCESS_ATTRIBUTES = 2;
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int STRING_VALUE = 1;
    private static final int ARRAY_VALUE = 5;
    private static final int ARRAY_ELEMENTS = 1;

    private static final int LENGTH_DELIMITED = 2;
    private static final int VARINT_BITS = 7;

    private ContextKeys() {}

    /** Encodes the keys of these types of accounts, in this order. */
    static byte[] encode(List<String> types) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        for (String type : types) keys.writeBytes(field(ARRAY_ELEMENTS, string(PREFIX + type)));
        ByteArrayOutputStream process = new ByteArrayOutputStream();
        process.writeBytes(attribute("threadlocal.schema_version", string(SCHEMA_VERSION)));
        process.writeBytes(attribute("threadlocal.attribute_key_map", field(ARRAY_VALUE, keys.toByteArray())));
        return process.toByteArray();
    }

    private static byte[] attribute(String key, byte[] value) {
        ByteArrayOutputStream attribute = new ByteArrayOutputStream();
        attribute.writeBytes(field(KEY, key.getBytes(StandardCharsets.UTF_8)));
        attribute.writeBytes(field(VALUE, value));
        return field(PROCESS_ATTRIBUTES, attribute.toByteArray());
    }

    private static byte[] string(String value) {
        return field(STRING_VALUE, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] field(int number, byte[] content) {
        ByteArrayOutputStream field = new ByteArrayOutputStream();
        field.write(number << 3 | LENGTH_DELIMITED);
        int length = content.length;
        for (; length >= 1 << VARINT_BITS; length >>>= VARINT_BITS) field.write(length | 1 << VARINT_BITS);
        field.write(length);
        field.writeBytes(content);
        return field.toByteArray();
    }
}
