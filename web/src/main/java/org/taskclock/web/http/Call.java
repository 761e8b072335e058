// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.taskclock.monitor.usage.Json;

/** A request to the API, and its response. Confined to one thread at a time. */
public final class Call {
    public static final String JSON = "application/json";
    public static final String HTML = "text/html; charset=utf-8";

    /** The request attribute with the reason why the request was refused. */
    public static final String REASON = "taskclock.reason";

    private static final long RETRY_SECONDS = 5;

    /** Longer texts are rejected, except tokens. The page shows no more than this. */
    private static final int MAX_TEXT = 200;

    /** The nanoseconds between two times fit into a long. */
    private static final long MAX_MILLIS = Instant.parse("2200-01-01T00:00:00Z").toEpochMilli();

    public final Request request;
    public final Response response;
    public final Callback callback;
    private final Matcher path;
    private final byte[] body;
    private Fields query;

    Call(Request request, Response response, Callback callback, Matcher path) {
        this(request, response, callback, path, null);
    }

    /** Creates a call whose body has been received; null if it has none. */
    Call(Request request, Response response, Callback callback, Matcher path, byte[] body) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.path = path;
        this.body = body;
    }

    /** Returns a part of the path. */
    public String path(String name) {
        return path.group(name);
    }

    /** Returns a parameter of the query; null if it is absent. */
    public String parameter(String name) throws ApiException {
        if (query == null) query = Request.extractQueryParameters(request);
        return limited(name, query.getValue(name));
    }

    /** Returns a text of a request, which may be null. */
    public static String limited(String name, String text) throws ApiException {
        if (text != null && text.length() > MAX_TEXT)
            throw ApiException.badRequest(name + ": must have at most " + MAX_TEXT + " characters");
        return text;
    }

    /** Returns all values of a parameter of the query. */
    public List<String> parameters(String name) throws ApiException {
        if (query == null) query = Request.extractQueryParameters(request);
        List<String> values = query.getValuesOrEmpty(name);
        for (String value : values) limited(name, value);
        return values;
    }

    public Instant time(String name, Instant ifAbsent) throws ApiException {
        String text = parameter(name);
        if (text == null) return ifAbsent;
        try {
            return time(Long.parseLong(text));
        } catch (NumberFormatException | DateTimeException e) {
            throw ApiException.badRequest(name + ": must be a time in milliseconds since 1970");
        }
    }

    /** Converts a time in milliseconds since 1970. Rejects implausible times. */
    public static Instant time(long millis) {
        if (millis < 0 || millis > MAX_MILLIS) throw new DateTimeException("no time: " + millis);
        return Instant.ofEpochMilli(millis);
    }

    /** Returns a required time. */
    public Instant time(String name) throws ApiException {
        Instant time = time(name, null);
        if (time == null) throw ApiException.badRequest(name + ": is missing: add a time in milliseconds since 1970");
        return time;
    }

    public int number(String name, int ifAbsent, int min, int max) throws ApiException {
        String text = parameter(name);
        if (text == null) return ifAbsent;
        try {
            int number = Integer.parseInt(text);
            if (number >= min && number <= max) return number;
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw ApiException.badRequest(name + ": must be a number from " + min + " to " + max);
    }

    /** Returns the body, which must be a JSON object. An empty body counts as an empty object. */
    public JsonObject body() throws ApiException {
        return body == null || body.length == 0 ? new JsonObject() : parse(body);
    }

    public static JsonObject parse(byte[] body) throws ApiException {
        try {
            return JsonParser.parseString(new String(body, StandardCharsets.UTF_8))
                    .getAsJsonObject();
        } catch (JsonParseException | IllegalStateException e) {
            throw ApiException.badRequest("the body is not a JSON object");
        }
    }

    public void json(Json.Value value) {
        json(200, Json.bytes(value));
    }

    public void json(int status, byte[] json) {
        send(status, JSON, json);
    }

    public void error(int status, String message) {
        request.setAttribute(REASON, message);
        // The request may succeed in a few seconds.
        if (status == 503 || status == 429) response.getHeaders().put(HttpHeader.RETRY_AFTER, RETRY_SECONDS);
        // Jetty closes the connection if the body has not been read. The client must not send its next request then.
        boolean hasBody = !HttpMethod.GET.is(request.getMethod()) && !HttpMethod.HEAD.is(request.getMethod());
        if (hasBody && body == null) response.getHeaders().put(HttpHeader.CONNECTION, "close");
        json(status, Json.error(message));
    }

    /** Sends a plain text. */
    public void text(int status, String text) {
        send(status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    public void send(int status, String type, byte[] body) {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        boolean isHead = "HEAD".equals(request.getMethod());
        response.write(true, isHead ? null : ByteBuffer.wrap(body), callback);
    }
}
