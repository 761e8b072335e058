// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {clean, el, oncePerFrame, setText} from './dom.js';
import {color, onScheme, poolColors} from './palette.js';
import {columnOf, isAscending, isSortable, isText, textOf, visibleColumns, widthOf} from './columns.js';

/** @typedef {import('./columns.js').Row} Row */
/** @typedef {import('./columns.js').ColumnSpec} ColumnSpec */

export const ROW_HEIGHT = 26;
const MARGIN_ROWS = 6;
const LEAST_NAME_WIDTH = 150;

/** The table of threads. Only visible rows have elements, so 10,000 threads are as fast as 50. */
export class ThreadTable {
  /**
   * @param {HTMLElement} host
   * @param {{sort: (column: string) => void, toggle: (row: Row) => void, choose: (row: Row) => void, open: (row: Row) => void,
   *   columns?: (width: number) => ColumnSpec[]}} actions
   */
  constructor(host, actions) {
    this.actions = actions;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {ColumnSpec[]} */
    this.columns = [];
    this.selected = '';
    /** @type {Set<string>} */
    this.tagged = new Set();
    this.sort = 'cpu';
    this.reverse = false;
    this.live = true;
    this.accounts = false;
    /** Whether the CPU time of single sections is known. */
    this.distribution = false;
    this.highlight = '';
    this.pool = '';
    this.head = el('div', {class: 'head row', role: 'row'});
    this.body = el('div', {class: 'body', role: 'rowgroup'});
    this.scroller = el('div', {class: 'table', role: 'grid', tabindex: '0'}, this.head, this.body);
    host.replaceChildren(this.scroller);
    /** @type {{row: HTMLElement, cells: HTMLElement[]}[]} */
    this.elements = [];
    this.draw = oncePerFrame(() => this.paint());
    this.scroller.addEventListener('scroll', this.draw, {passive: true});
    this.scroller.addEventListener('click', event => this.clicked(event));
    this.scroller.addEventListener('dblclick', event => {
      const row = this.rowOf(event);
      if (row) this.actions.open(row);
    });
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.scroller);
    this.readColors();
    this.offScheme = onScheme(() => {
      this.readColors();
      this.draw();
    });
  }

  readColors() {
    this.recentColor = color('accent');
  }

  /** @param {Row[]} rows */
  show(rows) {
    this.rows = rows;
    this.body.style.height = rows.length * ROW_HEIGHT + 'px';
    this.scroller.setAttribute('aria-rowcount', String(rows.length + 1));
    this.draw();
  }

  visible() {
    return this.actions.columns ? this.actions.columns(this.scroller.clientWidth) : visibleColumns(this.scroller.clientWidth, this.sort, this.live,
      column => (this.accounts ? column.accounts : column.threads) && (this.distribution || column.unit !== 'duration'));
  }

  /** Chooses the columns that fit, and builds the title row. */
  layout() {
    this.scroller.setAttribute('aria-label', this.accounts ? 'Accounts' : 'Threads');
    const columns = this.visible();
    const same = columns.map(column => column.id).join() === this.columns.map(column => column.id).join();
    if (!same) {
      this.columns = columns;
      this.body.replaceChildren();
      this.elements = [];
      const [name, ...rest] = columns;
      this.head.replaceChildren(...[name, ...rest].map(column => this.title(column)));
    }
    const others = this.columns.slice(1).map(widthOf);
    const name = Math.max(LEAST_NAME_WIDTH, this.scroller.clientWidth - others.reduce((sum, width) => sum + width, 0));
    this.scroller.style.setProperty('--columns', [name, ...others].map(width => width + 'px').join(' '));
    for (const [i, column] of this.columns.entries()) {
      const sorted = column.id === this.sort && isSortable(column);
      const ascending = isAscending(columnOf(column.id)) !== this.reverse;
      const cell = this.head.children[i];
      if (sorted) cell.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      else cell.removeAttribute('aria-sort');
    }
    this.draw();
  }

  /** @param {ColumnSpec} column */
  title(column) {
    const cell = el('span', {role: 'columnheader', class: isText(column) ? 'left' : 'number', title: column.help});
    if (isSortable(column)) {
      cell.append(el('button', {type: 'button', text: column.title, tabindex: '-1', 'data-sort': column.id, onclick: () => this.actions.sort(column.id)}));
    } else {
      cell.append(column.title || el('span', {class: 'unseen', text: column.help}));
    }
    return cell;
  }

  paint() {
    if (!this.columns.length) this.layout();
    const height = this.scroller.clientHeight, first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - MARGIN_ROWS);
    const count = Math.min(this.rows.length - first, Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN_ROWS);
    while (this.elements.length < count) this.elements.push(this.element());
    this.elements.forEach((element, i) => {
      const row = i < count ? this.rows[first + i] : undefined;
      element.row.hidden = !row;
      if (row) this.fill(element, row, first + i);
    });
    const active = this.rows.findIndex(row => row.key === this.selected);
    if (active >= first && active < first + count) this.scroller.setAttribute('aria-activedescendant', 'row-' + active);
    else this.scroller.removeAttribute('aria-activedescendant');
  }

  element() {
    const cells = this.columns.map(column => {
      const cell = el('span', {role: 'gridcell', class: isText(column) ? 'left' : 'number', 'data-column': column.id});
      if (column.id === 'name') cell.append(el('button', {type: 'button', class: 'fold', tabindex: '-1'}), el('i', {class: 'dot', 'aria-hidden': 'true'}), el('a', {class: 'label', tabindex: '-1'}));
      else if (column.id === 'bar') cell.append(el('i', {class: 'user-part'}), el('i', {class: 'system-part'}));
      else if (column.id === 'recent') cell.append(el('canvas', {width: '168', height: '36', 'aria-hidden': 'true'}));
      return cell;
    });
    const row = el('div', {class: 'row', role: 'row'}, ...cells);
    this.body.append(row);
    return {row, cells};
  }

  /** @param {{row: HTMLElement, cells: HTMLElement[]}} element @param {Row} row @param {number} index */
  fill({row: element, cells}, row, index) {
    element.style.transform = `translateY(${index * ROW_HEIGHT}px)`;
    element.id = 'row-' + index;
    element.dataset.index = String(index);
    element.dataset.key = clean(row.key);
    element.setAttribute('aria-rowindex', String(index + 2));
    element.setAttribute('aria-selected', String(row.key === this.selected));
    const hit = row.key === this.highlight || this.pool !== '' && `${row.kind} ${row.pool}` === this.pool
      || row.outlier === true;
    element.className = `row${row.key === this.selected ? ' selected' : ''}${row.child ? ' child' : ''}${row.group ? ' group' : ''}${hit ? ' hit' : ''}${(row.cpu || 0) < 0.05 ? ' idle' : ''}${this.tagged.has(row.key) ? ' tagged' : ''}`;
    this.columns.forEach((column, i) => this.cell(cells[i], column, row));
  }

  /** @param {HTMLElement} cell @param {ColumnSpec} column @param {Row} row */
  cell(cell, column, row) {
    if (column.id === 'name') {
      const [fold, dot, label] = /** @type {HTMLElement[]} */ ([...cell.children]);
      fold.hidden = !row.group;
      setText(fold, row.open ? '\u2212' : '+');
      fold.setAttribute('aria-label', row.open ? 'Close the pool' : 'Open the pool');
      fold.setAttribute('aria-expanded', String(Boolean(row.open)));
      dot.style.background = poolColors(row.pool).user;
      setText(label, row.name + (row.truncated ? '~' : ''));
      if (row.href) label.setAttribute('href', row.href);
      else label.removeAttribute('href');
      cell.title = clean(row.name);
    } else if (column.id === 'bar') {
      const [user, system] = /** @type {HTMLElement[]} */ ([...cell.children]);
      const cpu = Math.min(100, row.cpu || 0), kernel = row.cpu ? cpu * (row.system || 0) / row.cpu : 0, colors = poolColors(row.pool);
      user.style.width = cpu - kernel + '%';
      system.style.width = kernel + '%';
      user.style.background = colors.user;
      system.style.background = colors.system;
    } else if (column.id === 'recent') {
      this.spark(/** @type {HTMLCanvasElement} */ (cell.firstChild), row.recent || []);
    } else {
      setText(cell, textOf(column, row));
      if (isText(column)) cell.title = cell.textContent || '';
    }
  }

  /** @param {HTMLCanvasElement} canvas @param {(number|null)[]} values */
  spark(canvas, values) {
    const context = canvas.getContext('2d');
    if (!context) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const max = Math.max(10, ...values.map(value => value || 0)), width = canvas.width / 60;
    context.fillStyle = this.recentColor || '';
    values.forEach((value, i) => {
      const height = (value || 0) / max * canvas.height;
      if (height > 0.3) context.fillRect((60 - values.length + i) * width, canvas.height - height, Math.max(1, width - 0.6), height);
    });
  }

  /** @param {Event} event @returns {Row|undefined} */
  rowOf(event) {
    const element = /** @type {HTMLElement} */ (event.target).closest('.body .row');
    return element instanceof HTMLElement ? this.rows[Number(element.dataset.index)] : undefined;
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const row = this.rowOf(event);
    if (!row) return;
    if (/** @type {HTMLElement} */ (event.target).classList.contains('fold')) this.actions.toggle(row);
    else this.select(row);
  }

  /** @param {Row} row */
  select(row) {
    this.selected = row.key;
    this.actions.choose(row);
    this.reveal();
    this.draw();
  }

  /** @returns {Row|undefined} */
  get selectedRow() {
    return this.rows.find(row => row.key === this.selected);
  }

  reveal() {
    const index = this.rows.findIndex(row => row.key === this.selected);
    if (index < 0) return;
    const top = index * ROW_HEIGHT, height = this.scroller.clientHeight - ROW_HEIGHT - this.head.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + height) this.scroller.scrollTop = top - height;
  }

  /** Moves the selection. @param {number} by rows @param {boolean} [absolute] */
  move(by, absolute = false) {
    if (!this.rows.length) return;
    const at = this.rows.findIndex(row => row.key === this.selected);
    const wanted = absolute ? by : at < 0 ? 0 : at + by;
    this.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, wanted))]);
  }

  page() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
  }

  close() {
    this.observer.disconnect();
    this.offScheme();
    this.scroller.remove();
  }
}
