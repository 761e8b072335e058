// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** @typedef {import('./types.js').Column} Column */
/** @typedef {{key: string, pool: string, kind: string, user: Column, system: Column}} PoolLine */
/** @typedef {{key: string, tid: number, name: string, pool: string, kind: string, cpu: Column, system: Column}} ThreadLine */

/** In percent of a core. Threads that use less are dropped, because there may be thousands. */
const MIN_CPU = 0.05;
/** A live series is truncated only after it exceeds its length by this much, because truncating copies all columns. */
const SLACK = 60;

const ACCOUNT = 'account';

/** Returns an account as a row of the table. @param {import('./types.js').AccountRow} account */
export function accountRow(account) {
  return {...account, tid: 0, pool: account.name, kind: ACCOUNT};
}

/** @param {{kind: string, pool: string}} row */
export function poolKey(row) {
  return `${row.kind} ${row.pool}`;
}

/** @param {{kind: string, tid: number, name: string}} row */
export function threadKey(row) {
  return `${row.kind} ${row.tid} ${row.name}`;
}

/** Returns whether a row's CPU time is also included in other rows. @param {{kind: string, virtual?: boolean}} row */
export function isCountedElsewhere(row) {
  return row.virtual === true || row.kind === 'virtual' || row.kind === 'VIRTUAL';
}

/**
 * CPU use over time, in percent of a core. `times` are the starts of the steps.
 * @template {PoolLine|ThreadLine} L
 */
class Series {
  /** @param {number} step milliseconds */
  constructor(step) {
    this.step = step;
    /** @type {number[]} */
    this.times = [];
    /** @type {Map<string, L>} */
    this.lines = new Map();
  }

  /** @param {L} line @returns {Column[]} */
  columns(line) {
    return 'cpu' in line ? [line.cpu, line.system] : [line.user, line.system];
  }

  get end() {
    return this.times.length ? this.times[this.times.length - 1] + this.step : 0;
  }

  /** Returns the first step of a range, and the one after its last. @param {number} from @param {number} to */
  steps(from, to) {
    const first = this.times.findIndex(time => time + this.step > from);
    let last = this.times.length;
    while (last > 0 && this.times[last - 1] >= to) last--;
    return [first < 0 ? last : first, last];
  }

  /** Returns the mean of the known values in a range, or null. @param {Column} column @param {number} from @param {number} to */
  mean(column, from, to) {
    const known = column.slice(...this.steps(from, to)).filter(value => typeof value === 'number');
    return known.length ? known.reduce((sum, value) => sum + Number(value), 0) / known.length : null;
  }

  /** Removes the steps at or after this time. Otherwise, a clock that is set back would leave two values for one time. @param {number} time */
  truncate(time) {
    let length = this.times.length;
    while (length > 0 && this.times[length - 1] >= time) length--;
    if (length === this.times.length) return false;
    this.times.length = length;
    for (const line of this.lines.values()) for (const column of this.columns(line)) column.length = length;
    return true;
  }

  /** Removes the last steps if they have no data, for example because the history has not written them yet. */
  dropUnknownEnd() {
    const columns = [...this.lines.values()].map(line => this.columns(line)[0]);
    let length = this.times.length;
    while (length > 0 && columns.every(column => column[length - 1] === null || column[length - 1] === undefined)) length--;
    if (length < this.times.length) this.truncate(this.times[length]);
  }

  /** @param {number} horizon earlier steps are removed */
  trim(horizon) {
    let cut = 0;
    while (cut < this.times.length && this.times[cut] < horizon) cut++;
    if (cut < SLACK) return;
    this.times.splice(0, cut);
    for (const [key, line] of this.lines) {
      let used = false;
      for (const column of this.columns(line)) {
        column.splice(0, cut);
        used ||= column.some(value => value !== null && value > 0);
      }
      if (!used) this.lines.delete(key);
    }
  }

  /**
   * Appends the steps of another series that are later than the last one of this series, because the history had not written them yet.
   * @param {Series<L>} newer
   */
  addLater(newer) {
    const end = this.end, first = newer.times.findIndex(time => time >= end - newer.step / 2);
    if (first < 0) return;
    const before = this.times.length;
    for (let i = first; i < newer.times.length; i++) this.times.push(newer.times[i]);
    for (const [key, line] of newer.lines) {
      let own = this.lines.get(key);
      if (!own) {
        own = this.copyOf(line, before);
        this.lines.set(key, own);
      }
      const from = this.columns(line), to = this.columns(own);
      to.forEach((column, c) => column.push(...from[c].slice(first)));
    }
    for (const line of this.lines.values()) {
      for (const column of this.columns(line)) while (column.length < this.times.length) column.push(0);
    }
  }

  /** @param {L} line @param {number} length @returns {L} */
  copyOf(line, length) {
    const copy = {...line};
    for (const name of ['cpu', 'user', 'system']) {
      if (name in copy) Object.assign(copy, {[name]: new Array(length).fill(0)});
    }
    return copy;
  }
}

/** @extends {Series<PoolLine>} */
export class PoolSeries extends Series {
  /** @param {import('./types.js').Pools} data @param {boolean} [elsewhere] only pools that are also counted elsewhere */
  static of(data, elsewhere = false) {
    const series = new PoolSeries(data.step || 1000);
    series.times = data.times.slice();
    for (const row of data.pools) {
      if (isCountedElsewhere(row) !== elsewhere) continue;
      series.lines.set(poolKey(row), {key: poolKey(row), pool: row.pool, kind: row.kind, user: row.user.slice(), system: row.system.slice()});
    }
    series.dropUnknownEnd();
    return series;
  }

  /** Returns the accounts, by type. @param {import('./types.js').Pools} data */
  static ofAccounts({step, times, accounts = []}) {
    /** @type {Map<string, PoolSeries>} */
    const types = new Map();
    for (const {type} of accounts) {
      if (types.has(type)) continue;
      const pools = accounts.filter(account => account.type === type)
        .map(({name, user, system}) => ({pool: name, kind: ACCOUNT, user, system}));
      types.set(type, PoolSeries.of({from: 0, to: 0, step, times, pools}));
    }
    return types;
  }

  /**
   * @param {import('./types.js').Interval} interval @param {import('./types.js').ThreadRow[]} rows
   * @returns {boolean} whether the clock was set back
   */
  append(interval, rows = interval.threads) {
    const start = interval.end - interval.intervalNanos / 1e6;
    const back = this.truncate(start - this.step * 0.4);
    /** @type {Map<string, [number, number, import('./types.js').ThreadRow]>} */
    const sums = new Map();
    for (const row of rows) {
      if (isCountedElsewhere(row) || !row.cpu || row.cpu < 0) continue;
      const key = poolKey(row), sum = sums.get(key), kernel = Math.max(0, row.system || 0), user = Math.max(0, row.cpu - kernel);
      if (sum) {
        sum[0] += user;
        sum[1] += kernel;
      } else {
        sums.set(key, [user, kernel, row]);
      }
    }
    for (const [key, [, , row]] of sums) {
      if (this.lines.has(key)) continue;
      const zeros = () => new Array(this.times.length).fill(0);
      this.lines.set(key, {key, pool: row.pool, kind: row.kind, user: zeros(), system: zeros()});
    }
    this.times.push(start);
    for (const line of this.lines.values()) {
      const sum = sums.get(line.key);
      line.user.push(sum ? sum[0] : 0);
      line.system.push(sum ? sum[1] : 0);
    }
    return back;
  }
}

/** @extends {Series<ThreadLine>} */
export class ThreadSeries extends Series {
  /** @param {import('./types.js').Threads} data */
  static of(data) {
    const series = new ThreadSeries(data.step || 1000);
    series.times = data.times.slice();
    for (const row of data.threads) {
      const {tid, name, pool, kind} = row;
      series.lines.set(threadKey(row), {key: threadKey(row), tid, name, pool, kind, cpu: row.cpu.slice(), system: row.system.slice()});
    }
    series.dropUnknownEnd();
    return series;
  }

  /** Returns accounts in the form of threads, for the table and the heatmap. @param {PoolSeries} accounts */
  static ofAccounts({step, times, lines}) {
    const series = new ThreadSeries(step);
    series.times = times;
    for (const {pool, kind, user, system} of lines.values()) {
      const row = {tid: 0, name: pool, pool, kind}, key = threadKey(row);
      const cpu = user.map((value, i) => value === null ? null : value + (system[i] || 0));
      series.lines.set(key, {key, ...row, cpu, system});
    }
    return series;
  }

  /** @param {import('./types.js').Interval} interval */
  append(interval) {
    const start = interval.end - interval.intervalNanos / 1e6;
    this.truncate(start - this.step * 0.4);
    const length = this.times.length;
    this.times.push(start);
    for (const row of interval.threads) {
      if (!row.cpu || row.cpu < MIN_CPU) continue;
      const key = threadKey(row);
      let line = this.lines.get(key);
      if (!line) {
        const {tid, name, pool, kind} = row;
        line = {key, tid, name, pool, kind, cpu: new Array(length).fill(0), system: new Array(length).fill(0)};
        this.lines.set(key, line);
      }
      line.cpu.push(row.cpu);
      line.system.push(Math.max(0, row.system || 0));
    }
    for (const line of this.lines.values()) {
      if (line.cpu.length > length) continue;
      line.cpu.push(0);
      line.system.push(0);
    }
  }

  /** Returns the last values of a thread, the newest last. @param {string} key @param {number} count */
  recent(key, count) {
    return this.lines.get(key)?.cpu.slice(-count) ?? [];
  }
}
