// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Help;

/** Writes the manual page, out of what --help prints: the build calls it. */
public final class ManPage {
    private static final int WIDTH = 78;

    private final StringBuilder text = new StringBuilder();

    private ManPage() {}

    /** {@code files}: one, which is written. */
    public static void main(String[] files) throws IOException {
        Files.writeString(Path.of(files[0]), of(Main.commandLine()));
    }

    static String of(CommandLine command) {
        ManPage page = new ManPage();
        command.setUsageHelpWidth(WIDTH);
        page.text
                .append(".TH TASKCLOCK 1 \"\" \"TaskClock\" \"User Commands\"\n.SH NAME\n")
                .append("taskclock \\- CPU time of Java threads\n");
        page.section("SYNOPSIS", command);
        command.getSubcommands().forEach((name, sub) -> {
            if (!sub.getCommandSpec().usageMessage().hidden()) page.section("taskclock " + name, sub);
        });
        page.text.append(".SH SEE ALSO\n.BR top (1),\n.BR pidstat (1),\n.BR time (1),\n.BR jcmd (1)\n");
        return page.text.toString();
    }

    private void section(String title, CommandLine command) {
        command.setUsageHelpWidth(WIDTH);
        text.append(".SH ").append(escaped(title)).append("\n.nf\n");
        for (String line : command.getUsageMessage(Help.Ansi.OFF).split("\n", -1))
            text.append(escaped(line)).append('\n');
        text.append(".fi\n");
    }

    /** Backslashes and hyphens have a meaning of their own, and so have dots and apostrophes that begin a line. */
    private static String escaped(String line) {
        String plain = line.replace("\\", "\\e").replace("-", "\\-");
        return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
    }
}
