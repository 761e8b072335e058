// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        description = "Generate shell completion scripts.",
        footer = {
            "",
            "Examples:",
            "  source <(taskclock completion bash)  in ~/.bashrc",
            "  source <(taskclock completion zsh)   in ~/.zshrc"
        })
final class CompletionCommand implements Callable<Integer> {
    enum Shell {
        bash,
        zsh
    }

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "bash|zsh", description = "Shell to generate for.")
    private Shell shell;

    @Override
    public Integer call() throws IOException {
        // Without compinit, the script fails silently.
        String setup =
                shell == Shell.zsh ? "(( $+functions[compdef] )) || { autoload -U compinit && compinit; }\n" : "";
        CommandLine main = spec.parent().commandLine();
        LabCommand.describeOptions(main);
        Main.print(setup + AutoComplete.bash("taskclock", main));
        return Main.OK;
    }
}
