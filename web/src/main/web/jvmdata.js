// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, jvmPath, query} from './api.js';
import {PoolSeries, ThreadSeries, accountRow} from './series.js';
import {PRESETS} from './state.js';
import {Stream} from './stream.js';

/** @typedef {import('./types.js').Interval} Interval */
/** @typedef {import('./types.js').Mark} Mark */

const LIVE_STEP = 1_000;
/** While there is less data, a shorter range is shown. */
const LIVE_LENGTHS = [60_000, 120_000];
const LIVE_LENGTH = 300_000;
const MAX_POINTS = 1_000;
const MAX_THREADS = 200;
const LEAST_REFRESH = 5_000;
/** The history is written every five seconds at the latest. */
const WRITTEN_AFTER = 7_000;

/** Loads the usage of one JVM in a range, and follows it live. */
export class JvmData {
  /**
   * @param {string} id
   * @param {{loaded: (again: boolean) => void, interval: (interval: Interval) => void, ended: (time: number) => void,
   *   connected: (since: number|null) => void, failed: () => void, clockBack: (by: number) => void, problem: (error: unknown) => void,
   *   now: () => number, width: () => number}} listener
   */
  constructor(id, listener) {
    this.id = id;
    this.listener = listener;
    this.range = '';
    this.from = 0;
    this.to = 1;
    this.pools = new PoolSeries(LIVE_STEP);
    this.threads = new ThreadSeries(LIVE_STEP);
    /** By type. @type {Map<string, PoolSeries>} */
    this.accounts = new Map();
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Interval|null} */
    this.interval = null;
    /** @type {Stream|null} */
    this.stream = null;
    this.timer = 0;
    this.lost = false;
    this.dumps = false;
    this.ended = 0;
    /** @type {AbortController|null} */
    this.request = null;
  }

  get isLive() {
    return this.range === 'live';
  }

  /** @param {string} range @param {number} from @param {number} to */
  async open(range, from, to) {
    clearTimeout(this.timer);
    this.range = range;
    if (range !== 'live') this.closeStream();
    this.setRange(from, to);
    if (range === 'live' && !this.stream && !this.ended) this.openStream();
    await this.load(true);
    if (this.isLive && this.stream) this.timer = setTimeout(() => this.load(false), WRITTEN_AFTER);
  }

  /** @param {number} from @param {number} to */
  setRange(from, to) {
    const length = this.isLive ? this.liveLength() : PRESETS.get(this.range);
    if (length) {
      const live = this.isLive && this.interval ? this.interval.end : 0;
      this.to = this.ended || live || this.listener.now();
      this.from = this.to - length;
    } else {
      this.from = from;
      this.to = to;
    }
  }

  /** Returns the length of the live range, which is shorter while there is less data. */
  liveLength() {
    const {times} = this.pools, first = times.findIndex((_, i) => [...this.pools.lines.values()].some(line => line.user[i] !== null));
    const known = first < 0 ? 0 : this.pools.end - times[first];
    return LIVE_LENGTHS.find(length => known < length) || LIVE_LENGTH;
  }

  /** @param {boolean} again whether the range has changed */
  async load(again) {
    this.request?.abort();
    const request = this.request = new AbortController(), {from, to} = this;
    const points = this.isLive ? 400 : Math.max(100, Math.min(MAX_POINTS, this.listener.width()));
    const range = {from: Math.floor(this.isLive ? to - LIVE_LENGTH : from), to: Math.ceil(to), points};
    try {
      const [pools, threads] = await Promise.all([
        get(query(jvmPath(this.id, '/pools'), range), request.signal),
        get(query(jvmPath(this.id, '/threads'), {...range, limit: MAX_THREADS}), request.signal),
      ]);
      if (request.signal.aborted) return;
      const newPools = PoolSeries.of(pools), newThreads = ThreadSeries.of(threads), newAccounts = PoolSeries.ofAccounts(pools);
      if (this.isLive) {
        newPools.addLater(this.pools);
        newThreads.addLater(this.threads);
        for (const [type, series] of this.accounts) {
          const known = newAccounts.get(type);
          if (known) known.addLater(series);
          else newAccounts.set(type, series);
        }
      }
      this.pools = newPools;
      this.accounts = newAccounts;
      this.threads = newThreads;
      this.marks = pools.marks || [];
      if (this.isLive) this.setRange(from, to);
      this.listener.loaded(again);
    } catch (e) {
      if (request.signal.aborted) return;
      this.listener.problem(e);
    }
    if (!this.isLive && PRESETS.has(this.range)) this.refreshLater();
  }

  refreshLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.setRange(this.from, this.to);
      this.load(false);
    }, Math.max(LEAST_REFRESH, this.pools.step));
  }

  openStream() {
    this.stream = new Stream(this.id, {
      interval: data => this.append(data),
      ended: data => this.end(data?.time || data?.end || this.interval?.end || this.listener.now()),
    }, {
      connected: since => {
        this.listener.connected(since);
        if (since === null && this.lost) this.load(false); // events in the meantime
        this.lost = since !== null;
      },
      failed: () => this.listener.failed(),
    }, this.dumps);
  }

  /** From now on, requests the data that only thread dumps contain. */
  watchDumps() {
    if (this.dumps) return;
    this.dumps = true;
    if (!this.stream) return;
    this.closeStream();
    this.openStream();
  }

  /** @param {Interval} interval */
  append(interval) {
    const previous = this.interval?.end ?? 0;
    this.interval = interval;
    const back = this.pools.append(interval);
    this.threads.append(interval);
    this.appendAccounts(interval);
    if (back && previous > interval.end) this.listener.clockBack(previous - interval.end);
    this.setRange(this.from, this.to);
    for (const series of [this.pools, this.threads, ...this.accounts.values()]) series.trim(this.to - LIVE_LENGTH - 2 * LIVE_STEP);
    this.listener.interval(interval);
  }

  /** @param {Interval} interval */
  appendAccounts(interval) {
    const rows = interval.accounts || [];
    for (const {type} of rows) if (!this.accounts.has(type)) this.accounts.set(type, new PoolSeries(LIVE_STEP));
    for (const [type, series] of this.accounts) series.append(interval, rows.filter(row => row.type === type).map(accountRow));
  }

  /** Returns the types of accounts that have data. */
  accountTypes() {
    return [...this.accounts].filter(([, series]) => series.lines.size).map(([type]) => type).sort();
  }

  /** Returns the pools, or the accounts of a type. @param {string} by */
  series(by) {
    return by ? this.accounts.get(by) || new PoolSeries(this.pools.step) : this.pools;
  }

  /** @param {number} time */
  end(time) {
    if (this.ended) return;
    this.ended = time;
    this.closeStream();
    this.listener.ended(time);
  }

  closeStream() {
    this.stream?.close();
    this.stream = null;
    this.listener.connected(null);
  }

  close() {
    clearTimeout(this.timer);
    this.request?.abort();
    this.closeStream();
  }
}
