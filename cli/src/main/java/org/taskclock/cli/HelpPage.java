// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.sampling.ThreadColumn;

/** The keys of {@link KeyBindings}, and what the columns and marks of the screen mean. */
final class HelpPage {
    static final String TEXT = """
            Up Down PgUp PgDn Home End   select a row
            Enter      stacks of a thread; expands or collapses a pool
            m          hot methods of a thread or pool; there, f shows a flame graph
            F2 D       findings and their evidence
            F3 /       search, n next              F4 \\   filter (regular expression)
            F5 t       group by pool: + - expand and collapse, * all
            F6 < >     sort column                 I      reverse the order
            C          choose and order columns (remembered, as are sort column, interval and pools)
            P cpu      T time                      N tid  M wait  S system
            V voluntary switches                   X      involuntary switches
            R what spiked: sort by the rise over the last 60 intervals
            F          follow the thread           i      hide idle threads
            K          hide JVM threads            Space  tag   U  clear tags
            p Z        pause                       d 1-9  interval in seconds
            c          choose another JVM          [ ] { } step through a recording
            ( )        previous and next finding in a recording
            a          named accounts instead of threads; again: the next type, then threads
            o          sections of accounts that have been open longest; there, Enter shows the stack
            A          load the agent, which shows virtual threads and accounts (taskclock detach removes it)
            q F10      quit                        Ctrl-L redraw
            Mouse      click: select a row, sort by a column (again: reverse), press a key of the last line;
                       double click: as Enter; wheel: scroll; with Shift, the terminal selects text

            COLUMNS
            history: CPU of the process; the letters below mark findings:
                   LETTERS
            Bars: | user, # system; a full bar in the table is one processor.
            ~ after a name: truncated to 15 characters by the kernel.
            * before a name: tagged.
            """.replace("COLUMNS", columns()).replace("LETTERS", letters());

    private HelpPage() {}

    private static String columns() {
        StringJoiner columns = new StringJoiner("\n");
        for (ThreadColumn column : ThreadColumn.values())
            if (!column.title.isEmpty()) columns.add(CellFormat.padRight(column.title, 12) + column.help);
        return columns.toString();
    }

    /** Returns the letter of each finding, on lines of three. */
    private static String letters() {
        Map<String, String> kinds = new LinkedHashMap<>();
        for (FindingKind kind : FindingKinds.ALL)
            if (kind.isOfOneJvm()) kinds.merge(Timeline.letter(kind), kind.id(), (one, other) -> one + " or " + other);
        StringJoiner letters = new StringJoiner(", ");
        kinds.forEach((letter, ids) -> letters.add(letter + " " + ids));
        return letters.toString().replaceAll("((?:[^,]+, ){2}[^,]+,) ", "$1\n       ");
    }
}
