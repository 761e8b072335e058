// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.EventChannel;
import org.taskclock.web.http.EventStream;

/**
 * Sends what several views of the page show as one stream, because browsers open only six connections to a server with
 * HTTP/1.1, for all tabs together. After the first state, only changes are sent.
 */
final class ViewEvents {
    /** Stands for the overview. */
    private static final String JVMS = "jvms";

    private final EventChannel jvms;
    private final LiveViews views;

    ViewEvents(EventChannel jvms, LiveViews views) {
        this.jvms = jvms;
        this.views = views;
    }

    void open(Call call) throws ApiException {
        Set<String> subjects = new LinkedHashSet<>(call.parameters("of"));
        List<String> withJava = call.parameters("java");
        if (subjects.isEmpty() || subjects.size() > LiveViews.MAX_VIEWS)
            throw ApiException.badRequest(
                    "of: must be jvms or the id of a JVM, up to " + LiveViews.MAX_VIEWS + " times");
        EventStream stream = new EventStream(call);
        for (String subject : subjects) {
            try {
                if (subject.equals(JVMS)) jvms.addChanges(stream, JVMS);
                else views.watch(subject, withJava.contains(subject), view -> view.addChanges(stream, subject));
            } catch (ApiException e) {
                stream.send("absent", printable(subject), Json.error(e.getMessage()));
            }
        }
        stream.start();
    }

    /** Returns an id that cannot end the line of an event. */
    private static String printable(String subject) {
        return subject.replaceAll("[^!-~]", "?");
    }
}
