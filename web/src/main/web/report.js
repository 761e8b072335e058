// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {PoolChart} from './chart.js';
import {button, byId, clean, el, setText} from './dom.js';
import {setZone} from './format.js';
import {connectFrames} from './frames.js';
import {Heatmap} from './heatmap.js';
import {Legend} from './legend.js';
import {LineChart} from './lines.js';
import {nextScheme, onScheme, schemeName} from './palette.js';
import {PoolSeries, ThreadSeries} from './series.js';
import {enableSorting} from './sorting.js';

/**
 * @typedef {import('./lines.js').Line} Line
 * @typedef {{title: string, unit: string, series: Line[]}} Percentiles
 * @typedef {{title: string, unit: string, stacked: boolean, series: Line[]}} Timeline
 * @typedef {{name: string, started: string, percentiles: Percentiles[], timelines: Timeline[],
 *   recording: {pools?: import('./types.js').Pools, threads?: import('./types.js').Threads}}} Result
 */

/** Precedes the type of accounts in the title of a timeline. */
const ACCOUNTS = 'CPU by account: ';

/** @type {Result[]} */
const results = JSON.parse(
  byId('results').textContent || '[]', (_, value) => typeof value === 'string' ? clean(value) : value);
const zone = setZone(document.documentElement.dataset.zone || 'UTC');

/** The charts of a recording, which all show the same range. */
class RecordingView {
  /** @param {import('./types.js').Pools} pools @param {import('./types.js').Threads} threads */
  constructor(pools, threads) {
    this.pools = pools;
    this.threads = ThreadSeries.of(threads);
    this.from = pools.from;
    this.to = pools.to;
    /** @type {((from: number, to: number) => void)[]} */
    this.charts = [];
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    /** @type {Heatmap|null} */
    this.heatmap = null;
  }

  /** @param {number} from @param {number} to */
  show(from, to) {
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    for (const zoomOut of this.buttons) zoomOut.hidden = from <= this.pools.from && to >= this.pools.to;
    for (const chart of this.charts) chart(from, to);
  }

  zoomOut() {
    this.show(this.pools.from, this.pools.to);
  }

  /** @param {HTMLElement} host @param {PoolSeries} series @param {boolean} withThreads whether to show the threads below the pools */
  drawPools(host, series, withThreads) {
    const chartHost = el('div', {class: 'chart', role: 'img'}), legendHost = el('div', {class: 'legend'});
    const zoomOut = button('Zoom out', () => this.zoomOut(), {hidden: true});
    this.buttons.push(zoomOut);
    host.replaceChildren(el('div', {class: 'two-columns'},
      el('div', {class: 'chart-box'}, chartHost), el('div', {}, legendHost, zoomOut)));
    const chart = new PoolChart(chartHost, {
      select: (from, to) => this.show(from, to), hover: time => this.hover(time)});
    const legend = new Legend(legendHost, pool => {
      chart.highlight = chart.highlight === pool ? '' : pool;
      if (withThreads) this.highlight(chart.highlight);
      draw(false);
    });
    const draw = (/** @type {boolean} */ again) => {
      chart.show(series, this.from, this.to, again);
      legend.show(chart, false);
    };
    chartHost.addEventListener('dblclick', () => this.zoomOut());
    this.charts.push(() => draw(false));
    onScheme(() => draw(false));
    draw(true);
    if (withThreads) this.drawThreads(host, chart);
    return chart;
  }

  /** Draws pools with their threads, virtual threads, or accounts. @param {HTMLElement} host @param {number} index @param {string} title */
  draw(host, index, title) {
    const accounts = title.startsWith(ACCOUNTS) ? PoolSeries.ofAccounts(this.pools).get(title.slice(ACCOUNTS.length)) : null;
    return this.drawPools(host, accounts || PoolSeries.of(this.pools, index > 0), index === 0);
  }

  /** @param {HTMLElement} host @param {PoolChart} chart */
  drawThreads(host, chart) {
    const heatHost = el('div', {class: 'heat'});
    const heatmap = this.heatmap = new Heatmap(heatHost, {
      pick: line => this.highlight(line.pool && `${line.kind} ${line.pool}`),
      area: () => ({left: chart.host.getBoundingClientRect().left + chart.area().left, width: chart.area().width}),
    });
    host.append(el('div', {class: 'bar caption'}, el('h3', {text: 'Threads over time'}), heatmap.scale), heatHost);
    heatmap.show(this.threads, [...this.threads.lines.values()], this.from, this.to);
    this.charts.push((from, to) => heatmap.move(from, to));
    new ResizeObserver(() => heatmap.draw()).observe(chart.host);
  }

  /** @param {string} pool key */
  highlight(pool) {
    if (!this.heatmap) return;
    this.heatmap.pool = this.heatmap.pool === pool ? '' : pool;
    this.heatmap.label();
    this.heatmap.draw();
  }

  /** @param {number|null} time */
  hover(time) {
    if (!this.heatmap) return;
    this.heatmap.hoverTime = time;
    this.heatmap.draw();
  }
}

/** @type {Map<number, RecordingView>} */
const recordings = new Map();
results.forEach(({recording}, i) => {
  if (recording.pools && recording.threads) recordings.set(i, new RecordingView(recording.pools, recording.threads));
});

/** User and system time of the same name have the same hue. @param {Line} line @returns {Line} */
function shaded(line) {
  return {...line, hue: line.name.replace(/ (user|system)$/, ''), dark: line.name.endsWith(' system')};
}

/** @param {HTMLElement} host @param {number} i the result @param {number} index */
function drawTimeline(host, i, index) {
  const {title, unit, stacked, series} = results[i].timelines[index], recording = recordings.get(i);
  if (recording && stacked) return recording.draw(host, index, title);
  const start = recording ? Date.parse(results[i].started) : 0;
  const lines = series.map(line => shaded({...line, points: line.points.map(([x, y]) => [start + x * 1000, y])}));
  const label = recording ? `time (${zone})` : 'seconds since the start';
  const chart = new LineChart(host, lines, {
    unit, stacked, label, x: recording ? 'time' : 'seconds', ends: recording && [recording.from, recording.to],
    zoomed: (from, to) => recording?.show(from, to)});
  recording?.charts.push((from, to) => chart.move(from, to));
  return chart;
}

/** @param {HTMLElement} host @param {Percentiles} percentiles */
function drawPercentiles(host, {unit, series}) {
  if (series.some(line => line.points.some(([, y]) => y <= 0))) {
    host.after(el('p', {class: 'note', text: 'The logarithmic scale cannot show values of 0; see the table.'}));
  }
  return new LineChart(host, series, {unit, x: 'percentile', label: 'percentile'});
}

/**
 * Compares the percentiles of several results. Each series has a hue, and every second result its dark shade.
 * @param {HTMLElement} host
 */
function comparePercentiles(host) {
  /** @type {Line[]} */
  const lines = [], names = [...document.querySelectorAll('nav a')].map(link => link.getAttribute('data-name'));
  let unit = '', charts = 0;
  results.forEach((result, i) => {
    const chart = result.percentiles.find(one => one.title === host.dataset.title);
    if (!chart) return;
    ({unit} = chart);
    const dark = charts++ % 2 === 1;
    for (const line of chart.series) {
      // Published series are the same in all results.
      if (line.published && lines.some(other => other.hue === line.name)) continue;
      lines.push({...line, hue: line.name, dark, name: line.published ? line.name : `${names[i]}: ${line.name}`});
    }
  });
  return drawPercentiles(host, {title: '', unit, series: lines});
}

/** @param {HTMLElement} host */
function draw(host) {
  const {kind} = host.dataset, i = Number(host.dataset.result), index = Number(host.dataset.index);
  if (kind === 'timelines') return drawTimeline(host, i, index);
  return kind === 'percentiles' ? drawPercentiles(host, results[i].percentiles[index]) : comparePercentiles(host);
}

/** @param {string} selector @returns {NodeListOf<HTMLElement>} */
const all = selector => document.querySelectorAll(selector);

/** Shows a single part, for screenshots: ?only=N. */
function showOnly() {
  const only = document.querySelectorAll('.part')[Number(new URLSearchParams(location.search).get('only')) - 1];
  if (!only) return;
  for (const part of all('header, nav, footer, h2, .result > .where, .part')) part.hidden = part !== only;
  if (only instanceof HTMLDetailsElement) only.open = true;
}

const scheme = byId('scheme');
const showScheme = () => setText(scheme, `Scheme: ${schemeName()}`);
scheme.hidden = false;
scheme.addEventListener('click', nextScheme);
onScheme(showScheme);
showScheme();
showOnly();
// A chart can be inspected in the browser's console, and in tests.
for (const host of all('.drawing')) Object.assign(host, {chart: draw(host)});
connectFrames([...document.querySelectorAll('iframe')], frame => frame.srcdoc = String(frame.srcdoc));
enableSorting();
// A folded part cannot be opened on paper.
addEventListener('beforeprint', () => {
  for (const details of all('details.host')) details.setAttribute('open', '');
});
