// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.sampling.ThreadColumn;

/** The choice of columns, and the file that keeps it with the other settings. */
class SavedSettingsTest {
    @TempDir
    Path directory;

    private Path file;
    private ViewState view;

    @BeforeEach
    void setUp() {
        file = directory.resolve("taskclock/top.properties");
        view = newView();
    }

    private static ViewState newView() {
        ViewState view = new ViewState();
        view.accept(List.of(SyntheticJvm.interval(4711, 1)));
        return view;
    }

    private void press(String... keys) {
        for (String key : keys) KeyBindings.handle(view, key, 20);
    }

    private String titles(int width) {
        return ScreenRenderer.draw(view, width, 30).get(7).toString().strip().replaceAll(" +", " ");
    }

    /** Loads the settings, presses keys, and saves. */
    private void session(String... keys) {
        SavedSettings settings = SavedSettings.load(file);
        assertThat(settings.error()).isEmpty();
        settings.apply(view);
        titles(100);
        press(keys);
        settings.save(view);
        settings.close();
    }

    @Test
    void shouldFollowTheXdgSpecification() {
        assertThat(SavedSettings.file(Map.of("XDG_CONFIG_HOME", "/x", "HOME", "/h")))
                .hasToString("/x/taskclock/top.properties");
        for (String ignored : new String[] {"", "relative"}) {
            assertThat(SavedSettings.file(Map.of("XDG_CONFIG_HOME", ignored, "HOME", "/h")))
                    .hasToString("/h/.config/taskclock/top.properties");
        }
        assertThat(SavedSettings.file(Map.of())).isNull();
        assertThat(SavedSettings.load(null).error()).isEmpty();
    }

    @Test
    void shouldSaveOnlyWhatTheUserChanges() throws IOException {
        session("F1", "q", "Down", "i", "F4", "x", "Enter");
        assertThat(directory).isEmptyDirectory();
        view = newView();
        view.sort = ThreadColumn.SYSTEM; // from the command line
        view.intervalSeconds = 7;
        session("t", "C");
        assertThat(file).hasContent("# Saved by taskclock top.\npools=true\n");
        view = newView();
        session("N", "I");
        assertThat(file).content().endsWith(".\npools=true\nreverse=true\nsort=tid\n");
        view = newView();
        session();
        assertThat(view.groupByPool).isTrue();
        assertThat(view.reversed).isTrue();
        assertThat(view.sort).isEqualTo(ThreadColumn.TID);
    }

    @Test
    void shouldNotApplyWhatTheCommandLineGives() throws IOException {
        Files.createDirectory(file.getParent());
        Files.writeString(file, "sort=name\nreverse=true\ninterval=5\n");
        SavedSettings settings = SavedSettings.load(file);
        settings.ignore("sort", "reverse");
        settings.apply(view);
        assertThat(view.sort).isEqualTo(ThreadColumn.CPU);
        assertThat(view.reversed).isFalse();
        assertThat(view.intervalSeconds).isEqualTo(5);
        view = newView();
        view.isRecording = true; // the interval is that of the recording
        session("d", "9", "Enter");
        assertThat(view.intervalSeconds).isEqualTo(9);
        assertThat(file).content().contains("interval=5");
    }

    /** Properties files may contain escaped line breaks, which readers of single settings ignore. */
    @Test
    void shouldWriteAFileThatCanBeReadAgain() throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "sort=pid\\r\\u0000\ncolumns=tid,\\ncpu\n");
        session("t");
        assertThat(SavedSettings.load(file).error()).isEmpty();
        assertThat(file).content().contains("sort=pid\n", "columns=tid,cpu\n", "pools=");
    }

    @Test
    void shouldKeepWhatAnotherInstanceHasSaved() throws IOException {
        SavedSettings settings = SavedSettings.load(file);
        settings.apply(view);
        ViewState own = view;
        view = newView();
        session("t");
        view = own;
        press("N");
        settings.save(view);
        settings.close();
        assertThat(file).content().contains("pools=true", "sort=tid");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sort=size",
                "sort=bar",
                "interval=0",
                "interval=fast",
                "pools=maybe",
                "columns=cpu,cpu",
                "columns=cpu,,tid",
                "columns=name",
                "colums=cpu",
                "sort=\\u12",
                "\u0000\u0001\u001b[2J"
            })
    void shouldUseTheDefaultsIfTheFileIsDamaged(String content) throws IOException {
        Files.createDirectory(file.getParent());
        Files.writeString(file, "pools=true\n" + content + "\n");
        SavedSettings settings = SavedSettings.load(file);
        assertThat(settings.error())
                .startsWith(file + ": ")
                .endsWith(": using the defaults; correct or delete the file")
                .doesNotContain("\n", "\u001b");
        settings.apply(view);
        assertThat(view.groupByPool).isFalse();
        assertThat(view.message).isEqualTo(settings.error());
        settings.save(view);
        settings.close();
        assertThat(file).content().contains(content);
    }

    @Test
    void shouldRejectFilesThatAreNotText() throws IOException {
        Files.createDirectories(file);
        assertThat(SavedSettings.load(file).error()).contains(": not a regular file: ");
        Files.delete(file);
        Files.write(file, "sort=ü".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(SavedSettings.load(file).error()).contains(": not a text file: ");
        Files.writeString(file, "x".repeat(100_000));
        assertThat(SavedSettings.load(file).error()).contains(": not a settings file: ");
    }

    @Test
    void shouldWriteThroughALink() throws IOException {
        Path real = Files.createFile(directory.resolve("real"));
        Files.createDirectory(file.getParent());
        Files.createSymbolicLink(file, real);
        session("t");
        assertThat(file).isSymbolicLink();
        assertThat(real).content().contains("pools=true");
    }

    @Test
    void shouldWorkIfTheFileCannotBeWritten() throws IOException {
        Files.createFile(file.getParent());
        session("t");
        assertThat(view.groupByPool).isTrue();
        assertThat(file.getParent()).isEmptyFile();
    }

    @Test
    void shouldShowTheChosenColumnsInTheirOrder() {
        assertThat(titles(100)).isEqualTo("TID S CPU%▼USER% SYS% WAIT% VOL/s INV/s RECENT NAME");
        press("C");
        assertThat(ScreenRenderer.draw(view, 100, 30))
                .anyMatch(line -> line.toString().contains(ColumnMenu.TITLE.substring(0, 20)));
        press("Home", "Down", "Down", "F8", "Space"); // moves the state behind the CPU and hides it
        press("End", "Space", "F7", "F7", "F7", "F7", "F7", "F7", "F7", "F7", "F7", "F7"); // the pool
        press("Enter");
        assertThat(view.columns)
                .doesNotContain(ThreadColumn.STATE, ThreadColumn.KIND)
                .contains(ThreadColumn.POOL, ThreadColumn.PID);
        assertThat(titles(130)).isEqualTo("TID CPU%▼USER% SYS% WAIT% VOL/s INV/s POOL RECENT NAME");
        // Narrow screens drop columns, by the same rank as always.
        assertThat(titles(80)).isEqualTo("TID CPU%▼USER% SYS% WAIT% VOL/s INV/s RECENT NAME");
        press("C", "D", "q");
        assertThat(view.columns).isNull();
        press("C");
        for (int i = 0; i < view.columnMenu.size(); i++) {
            if (view.columnMenu.items().get(i).startsWith("[x]")) press("Space");
            press("Down");
        }
        press("q");
        assertThat(titles(80)).isEqualTo("NAME by cpu▼");
    }

    @Test
    void shouldSaveTheColumns() {
        session("C", "Home", "Down", "Down", "Space", "q");
        assertThat(file).content().contains("\ncolumns=pid,tid,cpu,");
        List<ThreadColumn> columns = view.columns;
        view = newView();
        session();
        assertThat(view.columns).isEqualTo(columns);
        session("C", "D", "q");
        assertThat(file).hasContent("# Saved by taskclock top.\n");
    }

    @Test
    void shouldSaveTheDirectionWithItsColumn() {
        session("N", "I");
        view = newView();
        SavedSettings settings = SavedSettings.load(file);
        settings.ignore("sort", "reverse"); // --sort is given
        settings.apply(view);
        press("T");
        settings.save(view);
        settings.close();
        assertThat(file).hasContent("# Saved by taskclock top.\nreverse=false\nsort=time\n");
        view = newView();
        view.sort = ThreadColumn.WAIT;
        settings = SavedSettings.load(file);
        settings.ignore("sort", "reverse");
        settings.apply(view);
        press("I");
        settings.save(view);
        settings.close();
        assertThat(file).hasContent("# Saved by taskclock top.\nreverse=true\nsort=wait\n");
    }

    @Test
    void shouldNotReplaceADamagedFile() throws IOException {
        Files.createDirectory(file.getParent());
        Files.writeString(file, "pools=true\nsort=size\n");
        SavedSettings settings = SavedSettings.load(file);
        settings.apply(view);
        press("N");
        settings.save(view);
        settings.close();
        assertThat(file).hasContent("pools=true\nsort=size\n");
        Files.delete(file);
        settings = SavedSettings.load(file);
        settings.apply(view);
        Files.writeString(file, "sort=size\n"); // edited meanwhile
        press("T");
        settings.save(view);
        settings.close();
        assertThat(file).hasContent("sort=size\n");
    }
}
