// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names in a PromQL expression. It need not be valid: promtool checks that. */
final class Expression {
    private static final Pattern STRING = Pattern.compile("\"[^\"]*\"");
    private static final Pattern RANGE = Pattern.compile("\\[[^\\]]*\\]");
    private static final Pattern GROUPING =
            Pattern.compile("\\b(by|without|on|ignoring|group_left|group_right) *\\(([^)]*)\\)");
    private static final Pattern SELECTOR = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)? *\\{([^}]*)\\}");
    private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*(?! *\\()\\b(?! *\\()");
    private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset", "sum", "count", "max");

    /** The labels that select series, by metric. */
    final Map<String, Set<String>> metrics = new LinkedHashMap<>();

    /** The labels by which the expression groups or joins. */
    final Set<String> grouping = new LinkedHashSet<>();

    Expression(String text) {
        String rest = RANGE.matcher(STRING.matcher(text).replaceAll("")).replaceAll("");
        Matcher groups = GROUPING.matcher(rest);
        while (groups.find()) grouping.addAll(names(groups.group(2)));
        rest = groups.replaceAll("");
        Matcher selectors = SELECTOR.matcher(rest);
        while (selectors.find())
            metrics.computeIfAbsent(selectors.group(1), m -> new LinkedHashSet<>())
                    .addAll(names(selectors.group(2)));
        for (String name : names(selectors.replaceAll("")))
            if (!OPERATORS.contains(name)) metrics.computeIfAbsent(name, m -> new LinkedHashSet<>());
    }

    private static Set<String> names(String text) {
        Set<String> names = new LinkedHashSet<>();
        Matcher matcher = NAME.matcher(text);
        while (matcher.find()) names.add(matcher.group());
        return names;
    }
}
