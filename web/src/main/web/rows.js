// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {comparator, summands} from './columns.js';
import {isCountedElsewhere, poolKey, threadKey} from './series.js';

/** @typedef {import('./columns.js').Row} Row */
/** @typedef {import('./types.js').ThreadRow} ThreadRow */

const RECENT = 60;
const LEAST_FOR_RISE = 3;

/**
 * Compiles a filter: a regular expression for names and pools, or a thread id. Returns null if it is invalid.
 * @param {string} text @returns {((row: {tid: number, name: string, pool: string}) => boolean)|null}
 */
export function filterOf(text) {
  if (text === '') return () => true;
  if (/^\d+$/.test(text)) return row => row.tid === Number(text) || row.name.includes(text);
  try {
    const pattern = new RegExp(text, 'i');
    return row => pattern.test(row.name) || pattern.test(row.pool);
  } catch {
    return null;
  }
}

/** @param {(number|null)[]} values */
function median(values) {
  const known = values.map(value => value ?? 0).sort((a, b) => a - b);
  const middle = known.length >> 1;
  return known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

/** Adds the recent values of each thread. @param {ThreadRow[]} threads @param {import('./series.js').ThreadSeries} series @returns {Row[]} */
export function liveRows(threads, series) {
  const intervals = Math.min(RECENT, series.times.length);
  return threads.map(thread => {
    const key = threadKey(thread), recent = series.recent(key, RECENT);
    const rise = intervals > LEAST_FOR_RISE && thread.cpu !== null ? thread.cpu - median(recent.length ? recent.slice(0, -1) : [0]) : null;
    return {...thread, key, recent, rise};
  });
}

/** Returns the averages of a range. @param {import('./series.js').ThreadSeries} series @param {number} from @param {number} to @returns {Row[]} */
export function historyRows(series, from, to) {
  const [first, last] = series.steps(from, to), every = Math.max(1, Math.ceil((last - first) / RECENT));
  return [...series.lines.values()].map(line => {
    const cpu = series.mean(line.cpu, from, to), system = cpu === null ? null : series.mean(line.system, from, to) || 0;
    const thread = {tid: line.tid, name: line.name, pool: line.pool, kind: line.kind, virtual: isCountedElsewhere(line)};
    const recent = [];
    for (let i = first; i < last; i += every) recent.push(Math.max(...line.cpu.slice(i, i + every).map(value => value ?? 0)));
    return {...thread, key: line.key, cpu, system, user: cpu === null ? null : cpu - Number(system), recent};
  });
}

/** @param {Row[]} members @returns {Row} */
function group(members) {
  const [first] = members;
  const count = members.reduce((sum, row) => sum + (row.threads || 1), 0);
  /** @type {Row} */
  const row = {...first, key: 'pool ' + poolKey(first), group: true, tid: 0, javaId: 0, name: `${first.pool} (${count})`, threads: count};
  for (const field of summands()) {
    let sum = 0, known = false;
    for (const member of members) {
      const value = /** @type {Record<string, any>} */ (member)[field];
      if (value === null || value === undefined || value < 0) continue;
      sum += value;
      known = true;
    }
    Object.assign(row, {[field]: known ? sum : null});
  }
  row.rise = members.some(member => typeof member.rise === 'number') ? members.reduce((sum, member) => sum + (member.rise || 0), 0) : null;
  row.state = members.some(member => member.state === 'R') ? 'R' : first.state;
  const blocked = members.find(member => member.javaState === 'BLOCKED') || members.find(member => member.javaState === 'RUNNABLE') || first;
  row.javaState = blocked.javaState;
  row.blockedBy = blocked.blockedBy;
  const length = Math.max(...members.map(member => member.recent?.length || 0));
  row.recent = Array.from({length}, (_, i) => members.reduce((sum, {recent}) => sum + (recent?.[recent.length - length + i] || 0), 0));
  return row;
}

/**
 * Filters, groups and sorts rows.
 * @param {Row[]} rows
 * @param {{filter: (row: {tid: number, name: string, pool: string}) => boolean, sort: string, reverse: boolean, pools: boolean, open: Set<string>, idle: boolean, jvm: boolean}} view
 */
export function arrange(rows, view) {
  const order = comparator(view.sort, view.reverse);
  const own = new Set(['gc', 'jit', 'vm']);
  const shown = rows.filter(row => view.filter(row) && (view.idle || (row.cpu || 0) > 0) && (view.jvm || !own.has(row.kind.toLowerCase())));
  if (!view.pools) return shown.sort(order);
  /** @type {Map<string, Row[]>} */
  const pools = new Map();
  for (const row of shown) {
    const key = poolKey(row), members = pools.get(key);
    if (members) members.push(row);
    else pools.set(key, [row]);
  }
  const top = [...pools.values()].map(members => members.length > 1 ? group(members) : members[0]).sort(order);
  return top.flatMap(row => {
    row.open = row.group && (view.open.has('*') || view.open.has(poolKey(row)));
    if (!row.open) return [row];
    const members = (pools.get(poolKey(row)) || []).sort(order);
    return [row, ...members.map(member => ({...member, child: true}))];
  });
}
