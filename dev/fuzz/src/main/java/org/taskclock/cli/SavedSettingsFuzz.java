// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.taskclock.fuzz.InputFile;
import org.taskclock.fuzz.OneLine;

/** The file with the settings of the interactive view. */
public final class SavedSettingsFuzz {
    private SavedSettingsFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        Path file = InputFile.of(data);
        ViewState view = new ViewState();
        SavedSettings settings = SavedSettings.load(file);
        settings.apply(view);
        if (!settings.error().isEmpty()) {
            OneLine.check(settings.error(), null);
            if (view.columns != null || view.groupByPool) throw new AssertionError("not the defaults");
            return;
        }
        // What is saved must be what is loaded the next time.
        view.groupByPool = !view.groupByPool;
        settings.save(view);
        settings.close();
        SavedSettings again = SavedSettings.load(file);
        if (!again.error().isEmpty()) throw new AssertionError(again.error());
        ViewState next = new ViewState();
        again.apply(next);
        if (next.groupByPool != view.groupByPool
                || next.reversed != view.reversed
                || next.sort != view.sort
                || next.intervalSeconds != view.intervalSeconds) throw new AssertionError("other settings");
    }
}
