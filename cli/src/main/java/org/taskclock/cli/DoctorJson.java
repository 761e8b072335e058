// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Locale;
import org.taskclock.ClockStatus;
import org.taskclock.ThreadContext;
import org.taskclock.report.MachineInfo;

/** Formats the output of {@code doctor} as JSON. Scripts depend on the field names: do not rename them. */
final class DoctorJson {
    private static final Gson GSON =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private DoctorJson() {}

    static String of(MachineInfo machine, ClockStatus status, List<ReadTimer.Latency> reads, ContractResult contract) {
        JsonObject json = GSON.toJsonTree(machine).getAsJsonObject();
        json.addProperty("libc", status.libc());
        json.addProperty("backend", status.backend().toString());
        json.addProperty("binding", status.binding());
        json.addProperty("state", status.state());
        json.add("backends", backends(status));
        json.addProperty("tickNanos", status.tickNanos());
        json.addProperty("accounting", status.accounting().name().toLowerCase(Locale.ROOT));
        json.addProperty("threadContext", ThreadContext.state());
        json.add("calibration", GSON.toJsonTree(status.calibration()));
        json.add("accuracy", GSON.toJsonTree(status.accuracy()));
        json.add("reads", GSON.toJsonTree(reads));
        JsonObject contractJson = GSON.toJsonTree(contract).getAsJsonObject();
        contractJson.addProperty("holds", contract.holds());
        json.add("contract", contractJson);
        return GSON.toJson(json);
    }

    private static JsonArray backends(ClockStatus status) {
        JsonArray backends = new JsonArray();
        for (ClockStatus.Verdict verdict : status.backends()) {
            JsonObject backend = new JsonObject();
            backend.addProperty("name", verdict.backend().toString());
            backend.addProperty("usable", verdict.usable());
            backend.addProperty("reason", verdict.reason());
            backends.add(backend);
        }
        return backends;
    }
}
