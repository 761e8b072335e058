// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;

/**
 * The schemas that kubeconform needs, one file per kind: from the OpenAPI description in the source of Kubernetes, and
 * from the definition of the Prometheus operator's PodMonitor. Unknown fields are errors.
 */
final class KubernetesSchemas {
    private static final String KUBERNETES = "k8s.io/kubernetes@v1.37.2";
    private static final String OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.85.0";
    private static final String DEFINITION = "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml";
    private static final String REFERENCE = "#/definitions/";

    /** Definitions whose values may also be numbers. */
    private static final java.util.Set<String> NUMBERS = java.util.Set.of(
            "io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.util.intstr.IntOrString");

    private KubernetesSchemas() {}

    /** Returns the pattern for the option {@code -schema-location}. */
    static String install() throws IOException, InterruptedException {
        Path directory =
                Files.createDirectories(Path.of("target", "kubernetes-schemas")).toAbsolutePath();
        JsonObject definitions = JsonParser.parseString(
                        Files.readString(Programs.source(KUBERNETES).resolve("api/openapi-spec/swagger.json")))
                .getAsJsonObject()
                .getAsJsonObject("definitions");
        for (Map.Entry<String, JsonElement> definition : definitions.entrySet()) {
            JsonElement kinds = definition.getValue().getAsJsonObject().get("x-kubernetes-group-version-kind");
            if (kinds == null || kinds.getAsJsonArray().size() != 1) continue;
            JsonObject kind = kinds.getAsJsonArray().get(0).getAsJsonObject();
            String group = kind.get("group").getAsString().split("\\.", 2)[0];
            String file = kind.get("kind").getAsString() + (group.isEmpty() ? "" : "-" + group) + "-"
                    + kind.get("version").getAsString();
            write(directory.resolve(file.toLowerCase(Locale.ROOT) + ".json"), schema(definition.getKey(), definitions));
        }
        Map<String, Object> operator = Rules.yaml(Programs.source(OPERATOR).resolve(DEFINITION));
        JsonObject podMonitor = new Gson().toJsonTree(operator).getAsJsonObject();
        JsonArray versions = podMonitor.getAsJsonObject("spec").getAsJsonArray("versions");
        JsonElement schema =
                versions.get(0).getAsJsonObject().getAsJsonObject("schema").get("openAPIV3Schema");
        write(directory.resolve("podmonitor-monitoring-v1.json"), strict(schema).getAsJsonObject());
        return directory + "/{{.ResourceKind}}{{.KindSuffix}}.json";
    }

    private static void write(Path file, JsonObject schema) throws IOException {
        Files.writeString(file, schema.toString());
    }

    /** Returns the schema of a definition with those that it refers to. */
    private static JsonObject schema(String name, JsonObject all) {
        JsonObject schema = new JsonObject();
        schema.addProperty("$ref", REFERENCE + name);
        JsonObject used = new JsonObject();
        schema.add("definitions", used);
        Deque<String> open = new ArrayDeque<>(java.util.List.of(name));
        while (!open.isEmpty()) {
            String next = open.remove();
            if (used.has(next)) continue;
            used.add(next, NUMBERS.contains(next) ? textOrNumber() : strict(all.get(next)));
            addReferences(used.get(next), open);
        }
        return schema;
    }

    private static JsonObject textOrNumber() {
        JsonObject schema = new JsonObject();
        JsonArray types = new JsonArray();
        types.add("string");
        types.add("number");
        schema.add("type", types);
        return schema;
    }

    private static void addReferences(JsonElement element, Deque<String> open) {
        if (element.isJsonArray()) for (JsonElement item : element.getAsJsonArray()) addReferences(item, open);
        if (!element.isJsonObject()) return;
        for (Map.Entry<String, JsonElement> field : element.getAsJsonObject().entrySet()) {
            boolean isReference = field.getKey().equals("$ref") && field.getValue() instanceof JsonPrimitive;
            if (isReference) open.add(field.getValue().getAsString().substring(REFERENCE.length()));
            else addReferences(field.getValue(), open);
        }
    }

    /** Returns a copy in which objects have no fields but those that are described. */
    private static JsonElement strict(JsonElement element) {
        if (element.isJsonArray()) {
            JsonArray copy = new JsonArray();
            for (JsonElement item : element.getAsJsonArray()) copy.add(strict(item));
            return copy;
        }
        if (!element.isJsonObject()) return element;
        JsonObject copy = new JsonObject();
        element.getAsJsonObject().entrySet().forEach(field -> copy.add(field.getKey(), strict(field.getValue())));
        JsonElement properties = copy.get("properties");
        // A property may have the name "properties"; then the value has no type.
        boolean isSchema = properties != null && properties.isJsonObject() && copy.has("type");
        if (isSchema && !copy.has("additionalProperties") && copy.get("type").isJsonPrimitive())
            copy.addProperty("additionalProperties", false);
        return copy;
    }
}
