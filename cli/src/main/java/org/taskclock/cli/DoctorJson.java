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

/** The doctor's findings for programs. A field that was given out once is not renamed. */
final class DoctorJson {
    private static final Gson GSON =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private DoctorJson() {}

    static String of(Machine machine, ClockStatus status, List<Timing.Read> reads, Contract contract) {
        JsonObject json = GSON.toJsonTree(machine).getAsJsonObject();
        json.addProperty("rung", status.rung().toString());
        json.addProperty("binding", status.binding());
        json.addProperty("state", status.state());
        json.add("rungs", rungs(status));
        json.addProperty("tickNanos", status.tickNanos());
        json.addProperty("accounting", status.accounting().name().toLowerCase(Locale.ROOT));
        json.add("calibration", GSON.toJsonTree(status.calibration()));
        json.add("accuracy", GSON.toJsonTree(status.accuracy()));
        json.add("reads", GSON.toJsonTree(reads));
        JsonObject findings = GSON.toJsonTree(contract).getAsJsonObject();
        findings.addProperty("holds", contract.holds());
        json.add("contract", findings);
        return GSON.toJson(json);
    }

    private static JsonArray rungs(ClockStatus status) {
        JsonArray rungs = new JsonArray();
        for (ClockStatus.Verdict verdict : status.rungs()) {
            JsonObject rung = new JsonObject();
            rung.addProperty("name", verdict.rung().toString());
            rung.addProperty("usable", verdict.usable());
            rung.addProperty("reason", verdict.reason());
            rungs.add(rung);
        }
        return rungs;
    }
}
