// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {Actions} from './actions.js';
import {messageOf} from './api.js';
import {PoolChart} from './chart.js';
import {Comparison} from './compare.js';
import {Dimension} from './dimension.js';
import {setText} from './dom.js';
import {saveImage} from './exports.js';
import {Findings, beginOf, matches, subjectOf} from './findings.js';
import {clock, duration, range as rangeText} from './format.js';
import {Heatmap} from './heatmap.js';
import {JvmData} from './jvmdata.js';
import {JvmHead} from './jvmhead.js';
import {JvmLayout} from './jvmlayout.js';
import {Legend} from './legend.js';
import {MarkStrip} from './marks.js';
import {navigate, presetFor, readState, remember} from './state.js';
import {ThreadSeries, poolKey} from './series.js';
import {ThreadPanel} from './threads.js';
import {TimeControl} from './timecontrol.js';

/** @typedef {import('./types.js').Finding} Finding */

const HEAT_ROWS = 12;
const MAX_HEAT_ROWS = 200;
const DRAWN = 'taskclock-drawn';

/** One JVM: its pools and threads, live or in a range of its history. */
export class JvmView {
  /** @param {HTMLElement} host @param {import('./page.js').Page} page @param {string} id */
  constructor(host, page, id) {
    this.page = page;
    this.id = id;
    this.state = readState();
    this.comparing = this.state.compare !== '';
    this.paused = false;
    this.heatRows = HEAT_ROWS;
    this.rows = HEAT_ROWS;
    /** @type {number|null} */
    this.hoverTime = null;
    this.actions = new Actions(id, page.info?.actions === true, (name, text) => page.problem(name, text));
    this.dimension = new Dimension(this);
    this.ui = new JvmLayout(host, this);
    this.head = new JvmHead(this);
    this.time = new TimeControl(this);
    this.chart = new PoolChart(this.ui.chartHost, {select: (from, to) => this.time.select(from, to), hover: time => this.hover(time)});
    this.legend = new Legend(this.ui.legendHost, pool => this.choosePool(pool));
    this.marks = new MarkStrip(this.ui.markHost, mark => this.show({kind: mark.kind, text: mark.text, since: mark.time}));
    this.heatmap = new Heatmap(this.ui.heatHost, {pick: line => this.threads.reveal(line), area: () => this.area()});
    this.ui.heatCaption.append(this.heatmap.scale);
    this.findings = new Findings(this.ui.findingHost, page.info?.started || 0, finding => this.show(finding), this.id);
    this.comparison = new Comparison(this.ui.compareHost, id, () => this.time.compare(false));
    this.threads = new ThreadPanel(this.ui.threadHost, this);
    this.data = new JvmData(id, {
      loaded: again => this.loaded(again), interval: interval => this.interval(interval), ended: time => this.ended(time),
      connected: since => page.connected(since), failed: () => this.failed(), problem: e => page.problem('data', messageOf(e)),
      clockBack: by => page.problem('clock', `The server\u2019s clock was set back by ${duration(by)}. What was recorded in that time is not shown twice.`),
      now: () => page.now(), width: () => this.chart.area().width,
    });
    /** The lines of the heatmap and the table. */
    this.lines = this.data.threads;
    this.observer = new ResizeObserver(() => this.marksAndHeat());
    this.observer.observe(this.ui.chartHost);
    this.start();
  }

  async start() {
    const {range, from, to} = this.state;
    this.head.find();
    await this.data.open(range, from, to);
  }

  /** @param {import('./state.js').State} state the current state in the URL */
  update(state) {
    const old = this.state;
    this.state = state;
    const moves = old.range !== state.range || old.from !== state.from || old.to !== state.to;
    if (moves) {
      if (state.range === 'fixed') {
        this.chart.animate(state.from, state.to);
        this.heatmap.move(state.from, state.to);
      }
      this.page.problem('data', '');
      this.data.open(state.range, state.from, state.to);
    }
    this.comparing = state.compare !== '';
    this.applyHighlight();
    this.threads.update();
    // Until the data of another range has arrived, the chart only moves.
    if (!moves) this.draw(old.by !== state.by);
  }

  /** @param {boolean} again */
  loaded(again) {
    this.page.problem('data', '');
    this.draw(again);
    // For the browser's profiler, and for measurements.
    performance.clearMarks(DRAWN);
    performance.mark(DRAWN);
  }

  /** @param {import('./types.js').Interval} interval */
  interval(interval) {
    this.findings.show(interval.findings || [], interval.end);
    this.page.notes(interval.notes || []);
    this.head.figures(interval.totals);
    this.head.explain(interval.explanation || []);
    if (!this.paused && this.data.isLive) this.draw(false);
  }

  /** @param {boolean} again */
  draw(again) {
    if (document.hidden && !again) return;
    const {data, chart} = this, {by} = this.state;
    this.lines = by ? ThreadSeries.ofAccounts(data.series(by)) : data.threads;
    this.dimension.show();
    this.ui.name(by);
    this.applyHighlight();
    chart.overlay.marks = data.marks;
    chart.overlay.brushes = this.time.brushes();
    chart.show(data.series(by), data.from, data.to, again);
    // Like the table, which has averages until the first interval arrives.
    this.legend.show(chart, data.isLive && data.interval !== null);
    this.marksAndHeat();
    this.showHeat();
    this.threads.show();
    for (const preset of this.ui.presets) preset.setAttribute('aria-pressed', String(preset.dataset.range === data.range));
    this.ui.compareButton.setAttribute('aria-pressed', String(this.comparing));
    setText(this.ui.rangeText, `${rangeText(data.from, data.to)}, step ${duration(data.pools.step)}${this.paused ? ', paused' : ''}`);
    if (this.comparing) this.comparison.show(this.time.brushes(), by);
    else this.comparison.hide();
  }

  area() {
    const {left, width} = this.chart.area();
    return {left: this.ui.chartHost.getBoundingClientRect().left + left, width};
  }

  marksAndHeat() {
    const {left} = this.chart.area();
    this.marks.show(this.data.marks, time => left + this.chart.plot.valToPos(time, 'x'), this.data.from, this.data.to);
    this.heatmap.draw();
  }

  toggleRows() {
    this.rows = this.rows === HEAT_ROWS ? MAX_HEAT_ROWS : HEAT_ROWS;
    this.ui.name(this.state.by);
    this.showHeat();
  }

  showHeat() {
    const {from, to} = this.data, {lines, step, times} = this.lines;
    const totals = [...lines.values()].map(line => {
      let sum = 0;
      for (let i = 0; i < line.cpu.length; i++) if (times[i] + step > from) sum += line.cpu[i] || 0;
      return {line, sum, hit: this.heatmap.isHighlighted(line)};
    }).filter(({line, sum}) => sum > 0 && this.threads.filter(line));
    totals.sort((a, b) => Number(b.hit) - Number(a.hit) || b.sum - a.sum);
    this.ui.moreRows.hidden = totals.length <= HEAT_ROWS;
    const shown = totals.slice(0, this.rows).map(({line}) => line);
    // Live rows keep their positions while the same threads are shown.
    const old = this.heatmap.rows.map(line => line.key), keys = new Set(shown.map(line => line.key));
    if (this.data.isLive && old.length === shown.length && old.every(key => keys.has(key))) shown.sort((a, b) => old.indexOf(a.key) - old.indexOf(b.key));
    this.heatmap.show(this.lines, shown, from, to);
  }

  /** Finds the pool and the thread that the URL highlights. */
  applyHighlight() {
    const {highlight, begin, by} = this.state;
    let pool = '', thread = '';
    if (highlight.startsWith('key:')) {
      pool = highlight.slice(4);
      if (by) thread = [...this.lines.lines.values()].find(line => poolKey(line) === pool)?.key || '';
    } else if (highlight) {
      const lines = [...this.data.threads.lines.values(), ...(this.data.isLive ? this.data.interval?.threads || [] : [])];
      const hit = lines.find(line => matches(highlight, line));
      if (hit) {
        pool = poolKey(hit);
        if (!highlight.startsWith('pool:') && !highlight.startsWith('kind:')) thread = `${hit.kind} ${hit.tid} ${hit.name}`;
      }
    }
    this.chart.highlight = this.data.series(by).lines.has(pool) ? pool : '';
    this.chart.overlay.begin = this.heatmap.begin = begin;
    const finding = this.findings.findings.find(({since}) => since && Math.abs(since - begin) < 1) || {kind: '', since: begin};
    this.chart.overlay.beginText = beginOf(finding, this.page.info?.started || 0);
    this.heatmap.highlight = thread;
    this.heatmap.pool = thread ? '' : pool;
    this.threads.highlight(thread, thread ? '' : pool);
  }

  /** Shows the subject of a finding, and when it began. @param {Finding} finding */
  show(finding) {
    const {since} = finding, now = this.page.now();
    const inside = !since || since >= this.data.from && since <= this.data.to;
    navigate({...subjectOf(finding), begin: Math.round(since || 0), ...(inside ? {} : {range: presetFor(Number(since), now), from: 0, to: 0})});
    this.ui.chartHost.scrollIntoView({block: 'center', behavior: 'smooth'});
  }

  /** @param {string} pool key */
  choosePool(pool) {
    const highlight = this.chart.highlight === pool || pool === '(other)' ? '' : 'key:' + pool;
    navigate({highlight, begin: 0});
  }

  /** @param {number|null} time */
  hover(time) {
    this.hoverTime = time;
    this.heatmap.hoverTime = time;
    this.heatmap.draw();
  }

  pause() {
    this.paused = !this.paused;
    if (!this.paused) this.draw(false);
    else setText(this.ui.rangeText, `${this.ui.rangeText.textContent}, paused`);
  }

  profile() {
    this.actions.profile(this.state.by ? undefined : this.threads.table.selectedRow);
  }

  addMark() {
    this.actions.mark(this.hoverTime ?? (this.data.isLive ? this.page.now() : this.state.begin || (this.data.from + this.data.to) / 2), () => this.data.load(false));
  }

  save() {
    saveImage(`${this.ui.title.textContent}, ${this.ui.where.textContent}`, this.chart, this.heatmap);
  }

  /** @param {number} time */
  ended(time) {
    this.page.problem('ended', `The JVM ended at ${clock(time)}. The page shows its last interval.`);
    if (this.data.isLive) this.draw(false);
  }

  /** The stream was interrupted, perhaps because the JVM exited. */
  async failed() {
    if (await this.page.checkServer() && !this.data.ended) this.head.find();
  }

  close() {
    this.observer.disconnect();
    this.data.close();
    this.chart.close();
    this.heatmap.close();
    this.threads.close();
    this.page.notes([]);
    document.title = 'TaskClock';
    for (const name of ['data', 'jvm', 'ended', 'clock', 'agent']) this.page.problem(name, '');
  }

  /** @param {Partial<import('./state.js').State>} changes */
  remember(changes) {
    Object.assign(this.state, changes);
    remember(changes);
  }
}
