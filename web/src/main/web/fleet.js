// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, messageOf, query} from './api.js';
import {PoolChart} from './chart.js';
import {comparator, fittingColumns, setColumns} from './columns.js';
import {setText} from './dom.js';
import {FleetLayout, RANGES} from './fleetlayout.js';
import {FleetFindings, Versions} from './fleetparts.js';
import {FLEET_COLUMNS, changeOf, columnsOf, lineName, serviceAddress, tableRow} from './fleetrows.js';
import {change, cores, duration, isKnown, moment, range as rangeText} from './format.js';
import {Legend} from './legend.js';
import {MarkStrip} from './marks.js';
import {filterOf} from './rows.js';
import {PoolSeries} from './series.js';
import {PRESETS, navigate, readState, remember} from './state.js';
import {ThreadTable} from './table.js';

/** @typedef {import('./columns.js').Row} Row */
/** @typedef {import('./types.js').Mark} Mark */

const REFRESH = 30_000;
const WEEK = 604_800_000;
const DEFAULT_RANGE = '24h';

/** All hosts, or those of one service: who uses the CPU now, a week earlier, and in a range. */
export class FleetView {
  /** @param {HTMLElement} host @param {import('./page.js').Page} page */
  constructor(host, page) {
    this.page = page;
    this.state = readState();
    this.price = page.info?.fleet?.price ?? null;
    /** @type {import('./types.js').Usage|null} */
    this.usage = null;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Mark[]} */
    this.marks = [];
    this.request = new AbortController();
    setColumns(FLEET_COLUMNS);
    this.ui = new FleetLayout(host, this);
    this.chart = new PoolChart(this.ui.chartHost, {
      select: (from, to) => navigate({range: 'fixed', from: Math.round(from), to: Math.round(to)}),
      hover: () => {}, figure: cores,
    });
    this.legend = new Legend(this.ui.legendHost, key => {
      this.chart.highlight = this.chart.highlight === key ? '' : key;
      this.chart.draw();
      this.legend.show(this.chart, false);
    });
    this.strip = new MarkStrip(this.ui.markHost, mark => mark.jvm && navigate({service: mark.jvm, by: ''}));
    this.findings = new FleetFindings(this.ui.findingHost);
    this.versions = new Versions(this.ui.versionHost);
    this.table = new ThreadTable(this.ui.tableHost, {
      sort: column => this.sort(column), toggle: () => {}, choose: () => {}, open: row => this.open(row),
      columns: width => fittingColumns(width, this.state.sort,
        columnsOf(this.by, this.state.service !== '', this.price !== null)),
    });
    this.observer = new ResizeObserver(() => this.drawMarks());
    this.observer.observe(this.ui.chartHost);
    this.timer = setInterval(() => !document.hidden && this.load(), REFRESH);
    this.load();
  }

  get by() {
    return this.state.by || (this.state.service ? 'jvm' : 'service');
  }

  get range() {
    const {range} = this.state;
    return range === 'fixed' || RANGES.some(([name]) => name === range) ? range : DEFAULT_RANGE;
  }

  /** @param {import('./state.js').State} state the current state in the URL */
  update(state) {
    const old = this.state;
    this.state = state;
    const differs = ['service', 'by', 'range', 'from', 'to'].some(name =>
      old[/** @type {keyof typeof old} */ (name)] !== state[/** @type {keyof typeof old} */ (name)]);
    if (differs) this.load();
    else this.arrange();
  }

  name() {
    const {service} = this.state, {by, range} = this;
    setText(this.ui.title, service || 'Fleet');
    this.ui.back.hidden = !service;
    this.ui.back.href = serviceAddress('');
    for (const choice of this.ui.choices) {
      choice.hidden = choice.dataset.by === (service ? 'service' : 'jvm');
      choice.setAttribute('aria-pressed', String(choice.dataset.by === by));
    }
    for (const preset of this.ui.presets) preset.setAttribute('aria-pressed', String(preset.dataset.range === range));
    if (document.activeElement !== this.ui.input) this.ui.input.value = this.state.filter;
    this.chart.what = by;
  }

  /** Requests what the view shows. A later call replaces an earlier one. */
  async load() {
    this.request.abort();
    const {signal} = this.request = new AbortController(), {service} = this.state, {by, range} = this;
    const length = PRESETS.get(range) || 0, fixed = range === 'fixed';
    const to = fixed ? this.state.to : Math.floor(this.page.now()), from = fixed ? this.state.from : to - length;
    this.name();
    /** @type {string[]} */
    const problems = [], warnings = new Set();
    /** @param {string} what @param {(data: any) => void} show */
    const part = async (what, show) => {
      try {
        const data = await get(query('api/fleet/' + what, {by, service: service || undefined, from, to}), signal);
        if (signal.aborted) return;
        for (const warning of data.warnings || []) warnings.add(`Prometheus warns: ${warning}`);
        show(data);
      } catch (e) {
        if (!signal.aborted) problems.push(messageOf(e));
      }
    };
    await Promise.all([
      part('usage', data => this.showUsage(data)), part('series', data => this.showSeries(data)),
      part('findings', data => this.findings.show(data.findings, data.truncated, to)),
      part('versions', data => this.showVersions(data.versions)),
    ]);
    if (signal.aborted) return;
    // Usually the same for all.
    this.page.problem('fleet', problems[0] || (this.usage && !isKnown(this.usage.total.cpu)
      ? `No figures${service ? ` of ${service}` : ''} at the end of this range. `
        + 'Prometheus must have loaded taskclock.rules.yml and taskclock-fleet.rules.yml.' : ''));
    this.page.notes(/** @type {string[]} */ ([...warnings]));
  }

  /** @param {import('./types.js').Usage} usage */
  showUsage(usage) {
    this.usage = usage;
    const {cpu, weekEarlier, hours, hoursWeekEarlier} = usage.total;
    const cost = this.price !== null && isKnown(hours) ? `, cost ${(Number(hours) * this.price).toLocaleString('en', {
      minimumFractionDigits: 2, maximumFractionDigits: 2})}` : '';
    setText(this.ui.figures, `${cores(cpu)} cores, ${change(changeOf(cpu, weekEarlier))} against a week earlier`);
    const time = isKnown(hours) ? Math.round(Number(hours)).toLocaleString('en') : '-';
    setText(this.ui.details, `${time} CPU hours in this range `
      + `(${change(changeOf(hours, hoursWeekEarlier))})${cost}`);
    this.ui.figures.title = `${moment(usage.to - WEEK)}: ${cores(weekEarlier)} cores`;
    this.rows = usage.rows.map(row => tableRow(usage.by, row, this.price));
    setText(this.ui.rangeText, `${rangeText(usage.from, usage.to)}, step ${duration(usage.step)}`);
    this.arrange();
  }

  arrange() {
    const {sort, reverse, filter} = this.state, matches = filterOf(filter);
    this.ui.input.setAttribute('aria-invalid', String(!matches));
    const shown = this.rows.filter(matches || (() => true)).sort(comparator(sort, reverse));
    this.table.sort = sort;
    this.table.reverse = reverse;
    this.table.layout();
    this.table.scroller.setAttribute('aria-label', 'Usage');
    const all = `${this.rows.length}${this.usage?.truncated ? ', the largest' : ''}`;
    setText(this.ui.count, shown.length < this.rows.length ? `${shown.length} of ${all}` : all);
    this.table.show(shown);
  }

  /** @param {string} text */
  setFilter(text) {
    remember({filter: text});
    this.update(readState());
  }

  /** @param {string} column choosing the same column again reverses the order */
  sort(column) {
    remember({sort: column, reverse: this.state.sort === column && !this.state.reverse});
    this.update(readState());
  }

  /** @param {Row} row */
  open(row) {
    if (row.href) location.href = row.href;
  }

  /** @param {import('./types.js').FleetSeries} data */
  showSeries(data) {
    const {by} = this, others = data.others.some(value => (value || 0) > 0.05);
    const lines = data.lines.map(line => ({
      pool: lineName(by, line), kind: line.labels.taskclock_pool_kind || '', user: line.cpu, system: []}));
    if (others && by !== 'account') lines.push({pool: '(other)', kind: '', user: data.others, system: []});
    this.chart.overlay.reference = data.weekEarlier.map((value, i) => [data.times[i] + data.step, value]);
    this.chart.show(PoolSeries.of({...data, pools: lines}), data.from, data.to, true);
    this.legend.show(this.chart, false);
    this.drawMarks();
  }

  /** @param {import('./types.js').Version[]} versions */
  showVersions(versions) {
    const {service} = this.state;
    this.versions.show(versions, service);
    this.marks = versions.filter(version => version.isNew).map(version => ({
      time: version.first, kind: 'deployment', text: `${version.service} ${version.version}`, jvm: version.service}));
    this.chart.overlay.marks = service ? this.marks : [];
    this.chart.draw();
    this.drawMarks();
  }

  drawMarks() {
    const {left} = this.chart.area();
    this.strip.show(this.marks, time => left + this.chart.plot.valToPos(time, 'x'), this.chart.from, this.chart.to);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const {table} = this;
    /** @type {Record<string, () => void>} */
    const actions = {
      '/': () => this.ui.input.focus(), ArrowUp: () => table.move(-1), ArrowDown: () => table.move(1),
      PageUp: () => table.move(-table.page()), PageDown: () => table.move(table.page()),
      Home: () => table.move(0, true), End: () => table.move(Number.MAX_SAFE_INTEGER, true),
      Enter: () => table.selectedRow && this.open(table.selectedRow),
    };
    const preset = RANGES[Number(event.key) - 1];
    if (preset) navigate({range: preset[0], from: 0, to: 0});
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }

  close() {
    clearInterval(this.timer);
    this.request.abort();
    this.observer.disconnect();
    this.chart.close();
    this.table.close();
    this.page.problem('fleet', '');
  }
}
