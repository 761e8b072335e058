// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import com.google.gson.stream.JsonReader;
import java.io.IOException;
import java.io.Reader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** The parts of a PodList of the Kubernetes API that name containers. The components have the names of the API. */
final class PodList {
    /** The id of a static pod in the names of control groups. The API server gives it another one. */
    private static final String STATIC_ID = "kubernetes.io/config.hash";

    private static final Gson GSON = new Gson();

    record Pod(Metadata metadata, Status status) {}

    record Metadata(
            String name,
            String namespace,
            String uid,
            Map<String, String> labels,
            Map<String, String> annotations,
            List<Owner> ownerReferences) {
        String label(String name) {
            return labels == null ? "" : labels.getOrDefault(name, "");
        }
    }

    record Owner(String kind, String name, Boolean controller) {}

    record Status(
            List<Container> containerStatuses,
            List<Container> initContainerStatuses,
            List<Container> ephemeralContainerStatuses) {}

    record Container(String name, String containerID) {}

    private PodList() {}

    static <T> List<T> orEmpty(List<T> list) {
        return list == null ? List.of() : list;
    }

    /**
     * Reads a list, one pod after the other, because all of them may take several megabytes.
     *
     * @return the names by the ids of containers and pods
     */
    static Map<String, Workload> read(Reader text, String node) throws IOException {
        Map<String, Workload> names = new HashMap<>();
        try (JsonReader json = new JsonReader(text)) {
            json.beginObject();
            while (json.hasNext()) {
                if (!json.nextName().equals("items")) {
                    json.skipValue();
                    continue;
                }
                json.beginArray();
                while (json.hasNext()) add(GSON.fromJson(json, Pod.class), node, names::put);
                json.endArray();
            }
            json.endObject();
        } catch (JsonParseException | IllegalStateException e) {
            throw new IOException("the answer is not a list of pods", e);
        }
        return names;
    }

    private static void add(Pod pod, String node, BiConsumer<String, Workload> names) {
        Metadata metadata = pod == null ? null : pod.metadata();
        if (metadata == null || metadata.uid() == null) return;
        Workload withoutContainer = Workload.of(pod, "", node);
        names.accept(metadata.uid(), withoutContainer);
        String staticId =
                metadata.annotations() == null ? null : metadata.annotations().get(STATIC_ID);
        if (staticId != null) names.accept(staticId, withoutContainer);
        if (pod.status() == null) return;
        for (List<Container> containers : List.of(
                orEmpty(pod.status().containerStatuses()),
                orEmpty(pod.status().initContainerStatuses()),
                orEmpty(pod.status().ephemeralContainerStatuses()))) {
            for (Container container : containers) {
                if (container.containerID() == null) continue; // it has not started yet
                // Such as containerd://ID.
                String id = container
                        .containerID()
                        .substring(container.containerID().lastIndexOf('/') + 1);
                if (!id.isEmpty()) names.accept(id, Workload.of(pod, container.name(), node));
            }
        }
    }
}
