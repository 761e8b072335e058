// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {distinguish} from './palette.js';

/** @typedef {import('./series.js').PoolSeries} PoolSeries */
/** @typedef {import('./series.js').PoolLine} PoolLine */

const UNACCOUNTED = '(unaccounted)';
export const MAX_POOLS = 10;
export const LAYERS = MAX_POOLS * 2;

/** @param {number} max */
function niceEnd(max) {
  const least = Math.max(10, max * 1.04), unit = 10 ** Math.floor(Math.log10(least));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(factor => factor * unit).find(end => end >= least) || least;
}

/** The pools of the chart from the bottom up, largest first, each with a layer for user time and one for system time. */
export class PoolStack {
  constructor() {
    /** @type {PoolLine[]} */
    this.order = [];
    /** @type {PoolSeries|null} */
    this.series = null;
    /** The CPU use of all pools in each step. @type {number[]} */
    this.sums = [];
  }

  /** Keeps the order of the pools while it is approximately right, so that the areas do not change places. @param {boolean} again */
  rank(again) {
    const lines = [...(this.series?.lines.values() ?? [])];
    /** @type {Map<string, number>} */
    const totals = new Map();
    for (const line of lines) {
      let sum = 0;
      for (let i = 0; i < line.user.length; i++) sum += (line.user[i] || 0) + (line.system[i] || 0);
      totals.set(line.key, sum);
    }
    /** @param {PoolLine} line */
    const total = line => totals.get(line.key) || 0;
    const ranked = lines.filter(line => total(line) > 0).sort((a, b) => total(b) - total(a));
    const many = ranked.length > MAX_POOLS, shown = ranked.slice(0, many ? MAX_POOLS - 1 : MAX_POOLS);
    const known = this.order.map(line => this.series?.lines.get(line.key)).filter(line => line !== undefined);
    const missing = shown.filter(line => !known.includes(line));
    const least = known.length ? Math.min(...known.map(total)) : 0;
    const full = known.length + missing.length > (many ? MAX_POOLS - 1 : MAX_POOLS);
    if (again || full && missing.some(line => total(line) > least * 1.5)) this.order = shown;
    else this.order = full ? known : [...known, ...missing];
    if (many) this.order = [...this.order.slice(0, MAX_POOLS - 1), this.rest(ranked.filter(line => !this.order.includes(line)))];
    // What belongs to no account is on top.
    this.order.sort((a, b) => Number(a.pool === UNACCOUNTED) - Number(b.pool === UNACCOUNTED));
    distinguish(this.order.map(line => line.pool));
  }

  /** @param {PoolLine[]} lines @returns {PoolLine} */
  rest(lines) {
    const length = this.series?.times.length ?? 0;
    /** @param {'user'|'system'} part */
    const sum = part => Array.from({length}, (_, i) => lines.reduce((total, line) => total + (line[part][i] || 0), 0));
    return {key: '(other)', pool: '(other)', kind: '', user: sum('user'), system: sum('system')};
  }

  /** @returns {uPlot.AlignedData} */
  data() {
    const times = this.series?.times ?? [], step = this.series?.step ?? 1000, length = times.length;
    const last = length ? times[length - 1] : 0;
    const known = Array.from({length}, (_, i) => !this.order.length || this.order.some(line => line.user[i] !== null && line.user[i] !== undefined));
    /** @type {number[]} */
    const sums = new Array(length).fill(0);
    /** @type {(number|null)[][]} */
    const layers = [];
    for (let layer = 0; layer < LAYERS; layer++) {
      const pool = this.order[layer >> 1];
      if (!pool) {
        layers.unshift([]);
        continue;
      }
      const column = layer & 1 ? pool.system : pool.user;
      /** @type {(number|null)[]} */
      const values = new Array(length + 1);
      for (let i = 0; i < length; i++) {
        sums[i] += column[i] || 0;
        values[i] = known[i] ? sums[i] : null;
      }
      values[length] = length ? values[length - 1] : null;
      layers.unshift(values);
    }
    this.sums = sums;
    return /** @type {uPlot.AlignedData} */ ([length ? [...times, last + step] : [], ...layers]);
  }

  /** Returns the end of the scale for the values between two times. @param {number} from @param {number} to @param {number} least */
  top(from, to, least = 0) {
    let max = least;
    const times = this.series?.times ?? [], step = this.series?.step ?? 0;
    this.sums.forEach((sum, i) => {
      if (times[i] + step > from && times[i] < to) max = Math.max(max, sum);
    });
    return niceEnd(max);
  }

  /** Returns the step at a time; -1 if there is none. @param {number|null} time */
  indexAt(time) {
    const times = this.series?.times ?? [];
    if (time === null) return -1;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = low + high + 1 >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return times.length && times[low] <= time && time < times[low] + (this.series?.step ?? 0) * 1.5 ? low : -1;
  }
}
