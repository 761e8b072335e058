// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.List;
import org.taskclock.monitor.profile.FlameGraphPage;

/** Builds a page. Text is always escaped, so it never becomes markup. */
final class HtmlBuilder {
    /** A table with this many columns does not fit on a phone. */
    private static final int WIDE_COLUMNS = 4;

    private final StringBuilder out = new StringBuilder();

    /** Appends markup, which must not contain untrusted text. */
    HtmlBuilder raw(String markup) {
        out.append(markup);
        return this;
    }

    HtmlBuilder text(String text) {
        out.append(escape(text));
        return this;
    }

    /** Appends an element with text. The name may include attributes. */
    HtmlBuilder element(String name, String text) {
        return raw("<" + name + ">").text(text).raw("</" + name.replaceFirst(" .*", "") + ">\n");
    }

    /** Appends a whole page as the value of an attribute. The browser restores it unchanged. */
    HtmlBuilder page(String page) {
        return raw(page.replace("&", "&amp;").replace("\"", "&quot;"));
    }

    /** Appends the paragraphs of a text, which are separated by blank lines. Appends nothing if the text is blank. */
    HtmlBuilder paragraphs(String text) {
        if (text == null || text.isBlank()) return this;
        for (String paragraph : text.strip().split("\n\\s*\n", -1)) element("p", paragraph);
        return this;
    }

    /** Appends a table. Cells are strings, numbers, bars, or null. */
    HtmlBuilder table(List<Result.Column> columns, List<? extends List<?>> rows) {
        boolean wide = columns.size() >= WIDE_COLUMNS;
        raw("<div class=\"scroll\"><table" + (wide ? " class=\"wide\"" : "") + ">\n<thead><tr>");
        for (int i = 0; i < columns.size(); i++) {
            raw(isNumeric(rows, i) ? "<th class=\"number\">" : "<th>")
                    .text(columns.get(i).name());
            String unit = columns.get(i).unit();
            if (unit != null && !unit.isBlank()) raw(" <small>").text(unit).raw("</small>");
            raw("</th>");
        }
        raw("</tr></thead>\n<tbody>\n");
        for (List<?> row : rows) {
            raw("<tr>");
            for (Object cell : row) cell(cell);
            raw("</tr>\n");
        }
        return raw("</tbody></table></div>\n");
    }

    /** Appends a cell. Numbers are rounded; an attribute and the tooltip have the exact value. */
    private void cell(Object cell) {
        if (cell instanceof Number number) {
            String rounded = NumberFormatter.format(number.doubleValue());
            String exact = NumberFormatter.exact(number.doubleValue());
            raw("<td class=\"number\"");
            if (!rounded.equals(exact)) raw(" data-value=\"" + exact + "\" title=\"" + exact + "\"");
            raw(">" + rounded + "</td>");
        } else if (cell instanceof BarScale.Cell bars) {
            raw("<td class=\"lengths\">" + bars.markup() + "</td>");
        } else {
            raw("<td>").text(cell == null ? "" : cell.toString()).raw("</td>");
        }
    }

    private static boolean isNumeric(List<? extends List<?>> rows, int column) {
        boolean any = false;
        for (List<?> row : rows) {
            Object cell = column < row.size() ? row.get(column) : null;
            if (cell == null) continue;
            if (!(cell instanceof Number)) return false;
            any = true;
        }
        return any;
    }

    static String escape(String text) {
        if (text == null) return "";
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                case '\n', '\t' -> escaped.append((char) c);
                default -> escaped.appendCodePoint(FlameGraphPage.isAllowed(c) ? c : 0xFFFD);
            }
        });
        return escaped.toString();
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
