// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Chooses a different name for each result of a page, for headings, legends, and columns. */
final class ResultNames {
    private ResultNames() {}

    /**
     * Returns the titles of the results. Of results with the same title, such as two runs of one profile, returns the
     * names of the files, or else the times.
     *
     * @param files the name of each result's file, without folder and extension
     */
    static List<String> of(List<Result> results, List<String> files, WallClock clock) {
        List<String> titles = results.stream().map(ReportPage::title).toList();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            String title = titles.get(i);
            String name = title;
            if (Collections.frequency(titles, title) > 1) {
                String file = i < files.size() ? files.get(i) : "";
                boolean distinct = !file.isBlank() && Collections.frequency(files, file) == 1;
                String period = clock.period(results.get(i));
                name = distinct ? file : period.isEmpty() ? title : title + ", " + period;
            }
            names.add(name);
        }
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            for (int n = 2; names.indexOf(names.get(i)) < i; n++) names.set(i, name + " (" + n + ")");
        }
        return names;
    }

    /** Returns a heading, which always names the kind of the result. */
    static String heading(Result result, String name) {
        String title = ReportPage.title(result);
        return name.startsWith(title) ? name : title + ": " + name;
    }
}
