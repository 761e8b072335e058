// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {bytes, change, cores, cpuTime, isKnown, percent, rate, seconds} from './format.js';

/** @typedef {import('./types.js').ThreadRow} ThreadRow */
/**
 * A row of the table: a thread, or a pool with the sums of its threads.
 * @typedef {ThreadRow & {key: string, group?: boolean, open?: boolean, child?: boolean, recent?: (number|null)[],
 *   rise?: number|null, href?: string, outlier?: boolean}} Row
 * @typedef {{id: string, title: string, help: string, unit: string, member: string|null, width: number, rank: number,
 *   threads: boolean, accounts: boolean, needsDumps: boolean}} ColumnSpec the server sends it; the width is in characters
 */

/** The columns of `top`, in the order of the page. @type {ColumnSpec[]} */
export const COLUMNS = [];

/** Where the page has columns that are at other places on a terminal: after which one. */
const PLACES = [['name', ''], ['bar', 'cpu'], ['tid', 'java']];
/** What the page drops first differs as well: its drawing of recent usage tells more than that of a terminal. */
const RANKS = new Map([['user', 3], ['recent', 4], ['tid', 6.5], ['kind', 10]]);
/** Columns with a higher rank are shown only if they are chosen, or if the table is sorted by them. */
const MAX_RANK = 10;
const HISTORY = ['name', 'cpu', 'bar', 'user', 'system', 'recent', 'kind', 'tid', 'pool'];

/** How the values of each unit are written. @type {Record<string, (value: any) => string>} */
const FORMATS = {
  percent, estimate: percent, limit: percent, rate, bytes, seconds, duration: cpuTime,
  id: value => value > 0 ? String(value) : '', text: value => value ?? '-', state: value => value ?? '',
  cores, change, hours: value => isKnown(value) ? value.toLocaleString('en', {maximumFractionDigits: 1}) : '-',
  money: value => isKnown(value) ? value.toLocaleString('en', {minimumFractionDigits: 2, maximumFractionDigits: 2}) : '-',
  count: value => value > 0 ? value.toLocaleString('en') : '',
  difference: value => isKnown(value) ? percent(value) : value ? '-' + percent(-value) : '-',
};

const NAME_WIDTH = 230, DRAWING_WIDTH = 90, LETTER_WIDTH = 24;
const NARROW = 600;

/** @param {ColumnSpec[]} columns from the server */
export function setColumns(columns) {
  const list = [...columns];
  for (const [id, before] of PLACES) {
    const at = list.findIndex(other => other.id === id);
    if (at < 0) continue; // the columns of a fleet
    const [column] = list.splice(at, 1);
    list.splice(list.findIndex(other => other.id === before) + 1, 0, column);
  }
  COLUMNS.splice(0, COLUMNS.length, ...list);
}

/** Returns the width in pixels. @param {ColumnSpec} column */
export function widthOf({unit, width}) {
  if (unit === 'drawing') return DRAWING_WIDTH;
  return unit === 'state' ? LETTER_WIDTH : 36 + 6 * width;
}

/** @param {ColumnSpec} column */
export function isText({unit}) {
  return unit === 'text' || unit === 'state';
}

/** @param {ColumnSpec} column */
export function isSortable({unit}) {
  return unit !== 'drawing';
}

/** @param {ColumnSpec} column */
export function isAscending({unit}) {
  return unit === 'text' || unit === 'id';
}

/** Returns the members that add up in a pool. */
export function summands() {
  return COLUMNS.filter(({unit}) => ['percent', 'estimate', 'limit', 'rate', 'bytes', 'seconds'].includes(unit))
    .map(({member}) => String(member));
}

/** @param {ColumnSpec} column @param {Row} row @returns {any} null or undefined if it is unknown */
function valueOf({id, member}, row) {
  if (id === 'blocked-by') return row.blockedBy || row.lockClass && `(${row.lockClass})`;
  return /** @type {Record<string, any>} */ (row)[member || id];
}

/** @param {ColumnSpec} column @param {Row} row */
export function textOf(column, row) {
  if (column.id === 'jstate') return (row.javaState || '-').replace('TIMED_WAITING', 'TIMED');
  return FORMATS[column.unit]?.(valueOf(column, row)) ?? '';
}

/** @param {ColumnSpec} column */
function rankOf({id, rank}) {
  return RANKS.get(id) ?? rank;
}

const KEY = 'taskclock-columns';

/** @returns {string[]|null} null to show as many as fit */
export function chosenColumns() {
  try {
    const chosen = JSON.parse(localStorage.getItem(KEY) || 'null');
    return Array.isArray(chosen) ? chosen.map(String) : null;
  } catch {
    return null;
  }
}

/** @param {string[]|null} ids */
export function chooseColumns(ids) {
  try {
    if (ids) localStorage.setItem(KEY, JSON.stringify(ids));
    else localStorage.removeItem(KEY);
  } catch {
    // The browser does not allow storage.
  }
}

/**
 * Returns the columns that fit.
 * @param {number} width @param {string} sort this column is always shown @param {boolean} live
 * @param {(column: ColumnSpec) => boolean} hasValues
 */
export function visibleColumns(width, sort, live, hasValues) {
  const chosen = chosenColumns(), existing = COLUMNS.filter(hasValues);
  if (chosen) return existing.filter(column => column.id === 'name' || chosen.includes(column.id));
  return fittingColumns(width, sort, existing.filter(column => (live || HISTORY.includes(column.id))
    && (column.id === sort || rankOf(column) <= MAX_RANK && column.unit !== 'difference')));
}

/** Returns the columns that fit, those with the lowest rank first. @param {number} width @param {string} sort @param {ColumnSpec[]} automatic */
export function fittingColumns(width, sort, automatic) {
  // A narrow table is scrolled sideways, beside the names.
  let left = width < NARROW ? Infinity : width - NAME_WIDTH;
  const shown = new Set(['name']);
  for (const column of [...automatic].sort((a, b) => (a.id === sort ? -1 : rankOf(a)) - (b.id === sort ? -1 : rankOf(b)))) {
    if (column.id === 'name' || widthOf(column) > left) continue;
    left -= widthOf(column);
    shown.add(column.id);
  }
  return COLUMNS.filter(column => shown.has(column.id));
}

/** Returns the column to sort by. @param {string} id @returns {ColumnSpec} */
export function columnOf(id) {
  const find = (/** @type {string} */ wanted) => COLUMNS.find(column => column.id === wanted && isSortable(column));
  return find(id) || /** @type {ColumnSpec} */ (find('cpu'));
}

/** @param {string} sort @param {boolean} reverse @returns {(a: Row, b: Row) => number} */
export function comparator(sort, reverse) {
  const column = columnOf(sort), sign = (isAscending(column) ? 1 : -1) * (reverse ? -1 : 1);
  return (a, b) => {
    const x = valueOf(column, a), y = valueOf(column, b);
    const unknown = Number(x === null || x === undefined || x === '') - Number(y === null || y === undefined || y === '');
    if (unknown) return unknown;
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true, sensitivity: 'base'});
    return order * sign || (b.cpu || 0) - (a.cpu || 0) || a.name.localeCompare(b.name, 'en', {numeric: true});
  };
}
