// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;

/** Generates the manual page from the help texts during the build. */
public final class ManPage {
    private static final int WIDTH = 78;

    private final StringBuilder text = new StringBuilder();

    private ManPage() {}

    /** Writes the manual page to the file given as the only argument. */
    public static void main(String[] args) throws IOException {
        Files.writeString(Path.of(args[0]), of(Main.commandLine()));
    }

    static String of(CommandLine command) {
        LabCommand.describeOptions(command);
        ManPage page = new ManPage();
        page.text
                .append(".TH TASKCLOCK 1 \"\" \"TaskClock\" \"User Commands\"\n.SH NAME\n")
                .append("taskclock \\- measure and explain the CPU time of Java threads\n");
        page.addSection("SYNOPSIS", command);
        page.addSubcommands(command);
        page.text.append(".SH SEE ALSO\n.BR top (1),\n.BR pidstat (1),\n.BR time (1),\n.BR jcmd (1)\n");
        return page.text.toString();
    }

    private void addSubcommands(CommandLine command) {
        for (CommandLine sub : command.getSubcommands().values()) {
            CommandSpec spec = sub.getCommandSpec();
            if (spec.usageMessage().hidden()) continue;
            addSection(spec.qualifiedName(), sub);
            addSubcommands(sub);
        }
    }

    private void addSection(String title, CommandLine command) {
        command.setUsageHelpWidth(WIDTH);
        text.append(".SH ").append(escape(title)).append("\n.nf\n");
        for (String line : command.getUsageMessage(Help.Ansi.OFF).split("\n", -1))
            text.append(escape(line)).append('\n');
        text.append(".fi\n");
    }

    /**
     * Escapes characters that are special in roff: backslashes, hyphens, and dots and apostrophes at the start of a
     * line.
     */
    private static String escape(String line) {
        String escaped = line.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}
