// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {COLUMNS, chooseColumns, columnOf, isSortable} from './columns.js';
import {openDialog} from './dialogs.js';
import {button, el, setText} from './dom.js';
import {clock, isKnown} from './format.js';
import {arrange, filterOf, historyRows, liveRows} from './rows.js';
import {OpenSections} from './sections.js';
import {accountRow, poolKey} from './series.js';
import {ThreadTable} from './table.js';

/** @typedef {import('./columns.js').Row} Row */

/** Stands for all pools. */
const ALL = '*';

/** @param {string} text as in the address @returns {Set<string>} keys of pools */
function openPools(text) {
  return new Set(text ? text.split('|') : []);
}

/** The thread table with its filter. */
export class ThreadPanel {
  /** @param {HTMLElement} host @param {import('./jvm.js').JvmView} view */
  constructor(host, view) {
    this.view = view;
    this.idle = true;
    this.jvm = true;
    /** @type {Row[]} */
    this.rows = [];
    /** The types of accounts that keep a distribution. @type {Set<string>} */
    this.withDistribution = new Set();
    const {state} = view;
    this.open = new Set(state.open ? state.open.split('|') : []);
    /** @type {(row: {tid: number, name: string, pool: string}) => boolean} */
    this.filter = filterOf(state.filter) || (() => true);
    this.title = el('h2', {});
    this.count = el('span', {class: 'note', role: 'status'});
    this.input = el('input', {type: 'search', placeholder: 'Filter: regular expression or tid  (/)', 'aria-label': 'Filter names and pools by a regular expression, or by a thread id', value: state.filter, spellcheck: 'false', autocomplete: 'off'});
    this.input.addEventListener('input', () => this.setFilter(this.input.value));
    this.input.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        this.input.value = '';
        this.setFilter('');
      }
      if (event.key === 'Escape' || event.key === 'Enter' || event.key === 'ArrowDown') {
        this.table.scroller.focus();
        event.preventDefault();
      }
      event.stopPropagation();
    });
    this.idleButton = this.toggle('Idle', 'i', () => this.setIdle(!this.idle));
    this.jvmButton = this.toggle('JVM\u2019s own', 'K', () => this.setOwn(!this.jvm));
    const columns = this.toggle('Columns', 'C', () => this.chooseColumns());
    columns.removeAttribute('aria-pressed');
    const box = el('div', {class: 'table-box'}), sectionHost = el('div', {class: 'sections', hidden: true});
    host.replaceChildren(el('div', {class: 'bar'}, this.title, this.count, el('span', {class: 'grow'}), this.input, this.idleButton, this.jvmButton, columns), box, sectionHost);
    this.sections = new OpenSections(sectionHost);
    this.table = new ThreadTable(box, {
      sort: column => this.sort(column), toggle: row => this.fold(row), choose: () => {}, open: row => this.enter(row),
    });
    this.applySort();
    this.press();
  }

  /** @param {string} text @param {string} key @param {() => void} action */
  toggle(text, key, action) {
    return button(text, action, {'aria-pressed': 'true', title: `${text} (${key})`, 'aria-keyshortcuts': key});
  }

  press() {
    this.idleButton.setAttribute('aria-pressed', String(this.idle));
    this.jvmButton.setAttribute('aria-pressed', String(this.jvm));
  }

  /** Applies the state in the URL. */
  update() {
    const {state} = this.view;
    this.open = openPools(state.open);
    if (document.activeElement !== this.input) this.input.value = state.filter;
    this.filter = filterOf(state.filter) || this.filter;
    this.applySort();
    this.press();
  }

  applySort() {
    this.table.sort = this.view.state.sort;
    this.table.reverse = this.view.state.reverse;
    this.table.layout();
  }

  /** Rebuilds the rows from the data. */
  show() {
    const {data, lines} = this.view, {by} = this.view.state, interval = data.isLive ? data.interval : null, live = interval !== null;
    const accounts = interval?.accounts?.filter(account => account.type === by).map(accountRow) || [];
    this.rows = interval ? liveRows(by ? accounts : interval.threads, lines) : historyRows(lines, data.from, data.to);
    this.sections.show(by && interval?.openSections?.filter(section => section.type === by) || []);
    const title = by ? `Accounts by ${by}` : 'Threads';
    setText(this.title, live ? `${title}, last ${(interval.intervalNanos / 1e9).toFixed(1)} s` : `${title}, average of this range`);
    this.table.live = live;
    this.table.accounts = by !== '';
    // In an interval without sections, none has a CPU time.
    if (accounts.some(({p50}) => isKnown(p50))) this.withDistribution.add(by);
    this.table.distribution = live && this.withDistribution.has(by);
    this.jvmButton.hidden = by !== '';
    this.table.layout();
    if (this.table.columns.some(column => column.needsDumps)) data.watchDumps();
    this.arrange();
  }

  arrange() {
    const {state} = this.view;
    const shown = arrange(this.rows, {filter: this.filter, sort: state.sort, reverse: state.reverse, pools: state.pools && !state.by, open: this.open, idle: this.idle, jvm: this.jvm});
    const matching = state.filter ? this.rows.filter(this.filter).length : this.rows.length;
    const {data} = this.view;
    setText(this.count, `${matching < this.rows.length ? `${matching} of ` : ''}${this.rows.length}${data.isLive && data.interval ? `, at ${clock(data.interval.end)}` : ''}${this.tagText()}`);
    this.table.show(shown);
  }

  tagText() {
    const tagged = this.rows.filter(row => this.table.tagged.has(row.key));
    return tagged.length ? `, tagged ${tagged.length}: ${tagged.reduce((sum, row) => sum + (row.cpu || 0), 0).toFixed(1)} %` : '';
  }

  /** @param {string} text */
  setFilter(text) {
    const filter = filterOf(text);
    this.input.setAttribute('aria-invalid', String(!filter));
    this.input.title = filter ? '' : 'This is not a valid regular expression, so it is not applied.';
    if (!filter) return;
    this.filter = filter;
    this.view.remember({filter: text});
    this.arrange();
    this.view.showHeat();
  }

  /** @param {string} column choosing the same column again reverses the order */
  sort(column) {
    const {state} = this.view;
    this.view.remember({sort: column, reverse: state.sort === column && !state.reverse});
    this.applySort();
    this.arrange();
  }

  reverse() {
    this.view.remember({reverse: !this.view.state.reverse});
    this.applySort();
    this.arrange();
  }

  /** Sorts by the column before or after. @param {number} by */
  nextSort(by) {
    const columns = this.table.visible().filter(isSortable);
    const at = columns.findIndex(column => column.id === columnOf(this.view.state.sort).id);
    this.view.remember({sort: columns[(at + by + columns.length) % columns.length].id, reverse: false});
    this.applySort();
    this.arrange();
  }

  /** @param {Row} row @param {boolean} [wanted] */
  fold(row, wanted) {
    const key = poolKey(row), open = wanted ?? !row.open;
    if (this.open.delete(ALL)) this.open = new Set(this.rows.map(poolKey));
    if (open) this.open.add(key);
    else this.open.delete(key);
    if (!open) this.table.selected = 'pool ' + key;
    this.view.remember({open: [...this.open].join('|')});
    this.arrange();
  }

  foldAll() {
    this.open = openPools(this.open.size ? '' : ALL);
    this.view.remember({open: [...this.open].join('|')});
    this.arrange();
  }

  /** @param {boolean} pools */
  setPools(pools) {
    this.view.remember({pools});
    this.arrange();
  }

  /** @param {boolean} idle */
  setIdle(idle) {
    this.idle = idle;
    this.press();
    this.arrange();
  }

  /** @param {boolean} own */
  setOwn(own) {
    this.jvm = own;
    this.press();
    this.arrange();
  }

  /** As Enter in top: the stack of a thread; opens or closes a pool; highlights an account. @param {Row|undefined} row */
  enter(row) {
    if (row?.group) this.fold(row);
    else if (row && this.view.state.by) this.view.choosePool(poolKey(row));
    else if (row) this.view.actions.stack(row);
  }

  /** @param {string} thread @param {string} pool */
  highlight(thread, pool) {
    const changed = thread !== this.table.highlight || pool !== this.table.pool;
    this.table.highlight = thread;
    this.table.pool = pool;
    if (!changed || !thread && !pool) return;
    const row = this.rows.find(candidate => candidate.key === thread);
    if (row && this.view.state.pools && this.rows.some(other => other !== row && poolKey(other) === poolKey(row))) this.open.add(poolKey(row));
    this.table.selected = thread || 'pool ' + pool;
    this.arrange();
    this.table.reveal();
  }

  /** Selects a thread of the heatmap. @param {import('./series.js').ThreadLine} line */
  reveal(line) {
    if (this.view.state.pools) this.open.add(poolKey(line));
    this.table.selected = line.key;
    this.arrange();
    this.table.reveal();
    this.table.scroller.scrollIntoView({block: 'nearest', behavior: 'smooth'});
    this.view.heatmap.highlight = line.key;
    this.view.heatmap.label();
    this.view.heatmap.draw();
  }

  tag() {
    const {tagged, selected} = this.table;
    if (!selected) return;
    if (!tagged.delete(selected)) tagged.add(selected);
    this.table.move(1);
    this.arrange();
  }

  untag() {
    this.table.tagged.clear();
    this.arrange();
  }

  chooseColumns() {
    const shown = new Set(this.table.columns.map(column => column.id));
    const boxes = COLUMNS.filter(column => column.id !== 'name').map(column => {
      const box = el('input', {type: 'checkbox', checked: shown.has(column.id)});
      box.addEventListener('change', () => {
        if (box.checked) shown.add(column.id);
        else shown.delete(column.id);
        chooseColumns([...shown]);
        this.table.layout();
      });
      return el('label', {class: 'choice'}, box, el('b', {text: column.title || 'BAR'}), el('span', {text: column.help}));
    });
    const dialog = openDialog('Columns', ...boxes, button('As many as fit', () => {
      chooseColumns(null);
      this.table.layout();
      dialog.close();
    }));
  }

  close() {
    this.table.close();
  }
}
