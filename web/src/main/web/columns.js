// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {bytes, isKnown, percent, rate, seconds} from './format.js';

/** @typedef {import('./types.js').ThreadRow} ThreadRow */
/**
 * A row of the table: a thread, or a pool with the sums of its threads.
 * @typedef {ThreadRow & {key: string, group?: boolean, open?: boolean, child?: boolean, recent?: (number|null)[], rise?: number|null,
 *   limit?: number|null}} Row
 * @typedef {{id: string, title: string, help: string, width: number, rank: number, text?: (row: Row) => string,
 *   value?: (row: Row) => number|string|null|undefined, key?: string, left?: boolean, ascending?: boolean, dump?: boolean}} ColumnSpec
 */

/** The columns of `top`. Those with `dump` come from thread dumps, which are taken only while one of them is shown. Those with the highest rank are dropped first on narrow screens. @type {ColumnSpec[]} */
export const COLUMNS = [
  {id: 'name', title: 'NAME', help: 'thread, or pool with its number of threads; ~ marks a name truncated by the kernel', width: 0, rank: -1, value: row => row.name, left: true, ascending: true},
  {id: 'state', title: 'S', help: 'R running or runnable, S sleeping, D uninterruptible sleep in the kernel, T stopped', width: 24, rank: 8, value: row => row.state, text: row => row.state || '', left: true},
  {id: 'cpu', title: 'CPU%', help: 'CPU time, percent of one processor', width: 62, rank: 0, value: row => row.cpu, text: row => percent(row.cpu), key: 'P'},
  {id: 'bar', title: '', help: 'user and system time; a full bar is one processor', width: 90, rank: 9},
  {id: 'user', title: 'USER%', help: 'CPU time in user mode', width: 66, rank: 3, value: row => row.user, text: row => percent(row.user)},
  {id: 'system', title: 'SYS%', help: 'CPU time in the kernel', width: 60, rank: 2, value: row => row.system, text: row => percent(row.system), key: 'S'},
  {id: 'limit', title: 'LIM%', help: 'CPU% relative to the container\u2019s limit', width: 60, rank: 13, value: row => row.limit, text: row => percent(row.limit)},
  {id: 'wait', title: 'WAIT%', help: 'time in which the thread was runnable, but waited for a processor', width: 66, rank: 5, value: row => row.wait, text: row => percent(row.wait), key: 'M'},
  {id: 'voluntary', title: 'VOL/s', help: 'voluntary context switches per second: the thread blocked', width: 64, rank: 7, value: row => row.voluntary, text: row => rate(row.voluntary), key: 'V'},
  {id: 'involuntary', title: 'INV/s', help: 'involuntary context switches per second: the time slice ended, or the thread yielded', width: 64, rank: 6, value: row => row.involuntary, text: row => rate(row.involuntary), key: 'X'},
  {id: 'allocation', title: 'ALLOC/s', help: 'bytes allocated per second, in units of 1024', width: 74, rank: 17, dump: true, value: row => row.allocation, text: row => bytes(row.allocation)},
  {id: 'time', title: 'TIME', help: 'CPU time since the thread started, in seconds', width: 76, rank: 10, value: row => row.total, text: row => seconds(row.total), key: 'T'},
  {id: 'watched', title: '+TIME', help: 'the part of TIME since watching began', width: 76, rank: 15, value: row => row.watched, text: row => seconds(row.watched)},
  {id: 'recent', title: 'RECENT', help: 'CPU usage in the last minute, newest at the right; in the range shown, if it is not live', width: 90, rank: 4},
  {id: 'rise', title: 'RISE', help: 'how much CPU% exceeds its median in the previous intervals', width: 60, rank: 14, value: row => row.rise, text: row => isKnown(row.rise) ? percent(row.rise) : row.rise ? '-' + percent(-row.rise) : '-', key: 'R'},
  {id: 'jstate', title: 'JSTATE', help: 'Java state, from the last thread dump', width: 96, rank: 17, dump: true, value: row => row.javaState, text: row => (row.javaState || '-').replace('TIMED_WAITING', 'TIMED'), left: true, ascending: true},
  {id: 'blocked', title: '~BLK%', help: 'estimated time in which the thread waited for locks', width: 66, rank: 17, dump: true, value: row => row.blocked, text: row => percent(row.blocked)},
  {id: 'blocked-by', title: 'BLOCKED BY', help: 'the thread that holds the lock that this thread waits for; in parentheses, the lock\u2019s class', width: 140, rank: 17, dump: true, value: row => row.blockedBy || row.lockClass, text: row => row.blockedBy || (row.lockClass ? `(${row.lockClass})` : ''), left: true, ascending: true},
  {id: 'kind', title: 'KIND', help: 'java, carrier, virtual, gc, jit, vm, native', width: 66, rank: 11, value: row => row.kind, text: row => row.kind.toLowerCase(), left: true, ascending: true},
  {id: 'java', title: 'JAVA', help: 'Java thread id', width: 60, rank: 16, value: row => row.javaId, text: row => row.javaId && row.javaId > 0 ? String(row.javaId) : '-', ascending: true},
  {id: 'tid', title: 'TID', help: 'kernel thread id', width: 70, rank: 6.5, value: row => row.tid, text: row => row.tid ? String(row.tid) : '', key: 'N', ascending: true},
  {id: 'pool', title: 'POOL', help: 'thread name with numbers replaced by #', width: 180, rank: 17, value: row => row.pool, text: row => row.pool, left: true, ascending: true},
];

const NAME_WIDTH = 230, NARROW_NAME_WIDTH = 150;
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

/** Returns the columns that fit. @param {number} width @param {string} sort this column is always shown @param {boolean} live */
export function visibleColumns(width, sort, live) {
  const chosen = chosenColumns();
  if (chosen) return COLUMNS.filter(column => column.id === 'name' || chosen.includes(column.id));
  let left = width - (width < 600 ? NARROW_NAME_WIDTH : NAME_WIDTH);
  const only = new Set(live ? COLUMNS.map(column => column.id) : ['name', 'cpu', 'bar', 'user', 'system', 'recent', 'kind', 'tid', 'pool']);
  const automatic = COLUMNS.filter(column => only.has(column.id) && (column.rank < 14 || column.id === sort) && column.id !== 'limit');
  const shown = new Set(['name']);
  for (const column of [...automatic].sort((a, b) => (a.id === sort ? -1 : a.rank) - (b.id === sort ? -1 : b.rank))) {
    if (column.id === 'name' || column.width > left) continue;
    left -= column.width;
    shown.add(column.id);
  }
  return COLUMNS.filter(column => shown.has(column.id));
}

/** @param {string} id @returns {ColumnSpec} */
export function columnOf(id) {
  return COLUMNS.find(column => column.id === id && column.value) || COLUMNS[2];
}

/** @param {string} sort @param {boolean} reverse @returns {(a: Row, b: Row) => number} */
export function comparator(sort, reverse) {
  const column = columnOf(sort), value = column.value || (() => 0), sign = (column.ascending ? 1 : -1) * (reverse ? -1 : 1);
  return (a, b) => {
    const x = value(a), y = value(b);
    const unknown = Number(x === null || x === undefined || x === '') - Number(y === null || y === undefined || y === '');
    if (unknown) return unknown;
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true, sensitivity: 'base'});
    return order * sign || (b.cpu || 0) - (a.cpu || 0) || a.name.localeCompare(b.name, 'en', {numeric: true});
  };
}
