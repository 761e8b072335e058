// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = "Prints a script by which a shell completes commands and options.",
        footer = {
            "",
            "Examples:",
            "  source <(taskclock completion bash)                in ~/.bashrc",
            "  source <(taskclock completion zsh)                 in ~/.zshrc"
        })
final class Completion implements Callable<Integer> {
    enum Shell {
        bash,
        zsh
    }

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "bash|zsh", description = "Which shell.")
    private Shell shell;

    @Override
    public Integer call() throws IOException {
        // The script needs it, and fails without a word.
        String before =
                shell == Shell.zsh ? "(( $+functions[compdef] )) || { autoload -U compinit && compinit; }\n" : "";
        Main.print(before + AutoComplete.bash("taskclock", spec.parent().commandLine()));
        return Main.OK;
    }
}
