// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The modules of the page as one script, because a page that is opened from a file cannot import modules. Each module
 * becomes a function that returns what it exports.
 */
final class PageScript {
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (\\{.*}) from '\\./(\\w+)\\.js';$");
    private static final Pattern EXPORT = Pattern.compile("(?m)^export (?=(?:class|const|function) (\\w+))");

    /** The scripts by name, each after those that it imports. */
    private final Map<String, String> modules = new LinkedHashMap<>();

    private PageScript() {}

    /** @param main the name of the module to run */
    static String of(String main) throws IOException {
        PageScript script = new PageScript();
        script.add(main);
        return "'use strict';\n" + String.join("", script.modules.values());
    }

    private void add(String name) throws IOException {
        if (modules.containsKey(name)) return;
        String source = ReportPage.resource("page/" + name + ".js");
        Matcher imports = IMPORT.matcher(source);
        while (imports.find()) add(imports.group(2));
        Matcher exports = EXPORT.matcher(source);
        String exported =
                exports.results().map((MatchResult match) -> match.group(1)).collect(Collectors.joining(", "));
        String body = EXPORT.matcher(IMPORT.matcher(source).replaceAll("const $1 = \\$$2;"))
                .replaceAll("");
        modules.put(name, "const $" + name + " = (() => {\n" + body + "return {" + exported + "};\n})();\n");
    }
}
