// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.taskclock.web.http.SecretFile;
import org.taskclock.web.http.WebException;
import org.taskclock.web.webhook.WebhookTarget;
import picocli.CommandLine.Option;

/** Who receives findings. */
final class WebhookOptions {
    private static final String FILE = "--webhook-file";
    private static final String VARIABLE = "TASKCLOCK_WEBHOOK";

    @Option(
            names = "--webhook",
            paramLabel = "[slack=]URL",
            description = "Send findings there when they begin and end, in the format of Alertmanager's webhooks or of"
                    + " Slack's. Can be repeated. Other users of this machine can see the URL; if it is secret, use"
                    + " --webhook-file or the environment variable " + VARIABLE + ".")
    private List<String> webhooks = List.of();

    @Option(names = FILE, paramLabel = "FILE", description = "File with further such receivers, one per line.")
    private Path file;

    List<WebhookTarget> targets(Consumer<String> log) throws WebException {
        List<WebhookTarget> targets = new ArrayList<>();
        for (String webhook : webhooks) targets.add(WebhookTarget.parse("--webhook", webhook));
        String listed = file == null ? "" : SecretFile.read(FILE, file, "write a URL to it");
        if (file != null) SecretFile.warn(FILE, file, log);
        for (String line : listed.lines().toList()) {
            boolean isTarget = !line.isBlank() && !line.startsWith("#");
            if (isTarget) targets.add(WebhookTarget.parse(FILE + " " + file, line.strip()));
        }
        String variable = System.getenv(VARIABLE);
        if (variable != null && !variable.isBlank())
            for (String each : variable.strip().split("\\s+", -1)) targets.add(WebhookTarget.parse(VARIABLE, each));
        return targets;
    }
}
