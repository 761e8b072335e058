// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {AXIS_WIDTH, timeLabels} from './chart.js';
import {oncePerFrame} from './dom.js';
import {zoned} from './format.js';
import {color, distinguish, onScheme, poolColors} from './palette.js';
import {selectByTouch} from './touch.js';

/**
 * A line. Lines with the same `hue` have the same hue, and those that are `dark` its dark shade.
 * @typedef {{name: string, published?: boolean, points: number[][], hue?: string, dark?: boolean}} Line
 * The axis begins and ends at `ends`, if they are given.
 * @typedef {{unit: string, x: 'time'|'seconds'|'percentile', label: string, stacked?: boolean, ends?: number[],
 *   zoomed?: (from: number, to: number) => void}} LineOptions
 */

/** A line has a gap where this many steps are missing. */
const GAP = 3;
/** From this many seconds on, times since the start are shown in minutes. */
const LONG = 300;
const FONT = '12px system-ui, sans-serif';

/** @param {number|null|undefined} value */
export function number(value) {
  if (value === null || value === undefined || !isFinite(value)) return '';
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return value.toLocaleString('en', {maximumFractionDigits: 0});
  return String(value).length <= 7 ? String(value) : value.toLocaleString('en', {maximumSignificantDigits: 4});
}

/** @param {number} millis */
function sinceStart(millis) {
  const s = Math.round(millis / 1000), pad = (/** @type {number} */ n) => String(n).padStart(2, '0');
  return `${s >= 3600 ? Math.floor(s / 3600) + ':' : ''}${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
}

/** Places 0 at 1, 90 at 10, and 99 at 100, as HdrHistogram does, and 100, which would be infinite, after the last. */
class PercentileScale {
  /** @param {number[]} percentiles */
  constructor(percentiles) {
    const below = percentiles.filter(p => p < 100);
    this.steps = Math.max(1, ...below.map(p => Math.ceil(Math.log10(100 / (100 - p)) - 1e-9))) + 1;
  }

  /** @param {number} p */
  place(p) {
    return p >= 100 ? 10 ** this.steps : 100 / (100 - p);
  }

  /** @param {number|null} x */
  text(x) {
    if (x === null) return '';
    const step = Math.round(Math.log10(x));
    return step === this.steps ? '100 %' : step < 3 ? ['0 %', '90 %', '99 %'][step] : `99.${'9'.repeat(step - 2)} %`;
  }
}

/** Lines or stacked areas. The legend shows the values under the pointer. Dragging zooms, a double click zooms out. */
export class LineChart {
  /** @param {HTMLElement} host @param {Line[]} lines @param {LineOptions} options */
  constructor(host, lines, options) {
    this.host = host;
    this.lines = lines;
    this.options = options;
    const xs = lines.flatMap(line => line.points.map(([x]) => x));
    this.scale = options.x === 'percentile' ? new PercentileScale(xs) : null;
    this.log = this.scale !== null && lines.some(line => line.points.some(([, y]) => y > 0));
    const {places, values} = this.read();
    this.xs = places;
    this.values = values;
    distinguish([...new Set(lines.map(line => line.hue ?? line.name))]);
    this.plot = this.build();
    const resize = oncePerFrame(() => this.plot.setSize({width: this.width(), height: this.plot.height}));
    new ResizeObserver(resize).observe(host);
    onScheme(() => {
      const {min, max} = this.plot.scales.x;
      this.plot.destroy();
      this.plot = this.build();
      if (!this.scale) this.plot.setScale('x', {min: Number(min), max: Number(max)});
    });
  }

  /** Reads the values at each place. Null is a gap in all lines, and a value that only one line lacks is undefined. */
  read() {
    const known = this.lines.map(({points}) => new Map(points.map(
      ([x, y]) => [this.scale ? this.scale.place(x) : x, this.log && y <= 0 ? null : y])));
    const {ends = []} = this.options;
    const xs = [...new Set([...ends, ...known.flatMap(values => [...values.keys()])])].sort((a, b) => a - b);
    const steps = xs.slice(1).map((x, i) => x - xs[i]).sort((a, b) => a - b), step = steps[steps.length >> 1] ?? 1;
    const gaps = new Set(this.scale ? [] : xs.filter((x, i) => i > 0 && x - xs[i - 1] > GAP * step).map(x => x - step));
    const places = [...xs, ...gaps].sort((a, b) => a - b);
    return {places, values: known.map(values => places.map(x => gaps.has(x) ? null : values.get(x)))};
  }

  /** @returns {uPlot.AlignedData} */
  data() {
    if (!this.options.stacked) return /** @type {uPlot.AlignedData} */ ([this.xs, ...this.values]);
    const sums = this.xs.map(() => 0);
    const layers = this.values.map(values => values.map((value, i) => value === null ? null : sums[i] += value || 0));
    return /** @type {uPlot.AlignedData} */ ([this.xs, ...layers.reverse()]);
  }

  width() {
    return Math.max(100, this.host.clientWidth);
  }

  /** @param {Line} line */
  color({name, hue, dark}) {
    return poolColors(hue ?? name)[dark ? 'system' : 'user'];
  }

  build() {
    const {stacked, unit, x, label, zoomed} = this.options, {scale, log} = this;
    const order = this.lines.map((line, i) => ({line, values: this.values[i]}));
    if (stacked) order.reverse();
    const axis = {
      stroke: () => color('muted'), font: FONT, labelFont: FONT, labelSize: 20, ticks: {show: false},
      grid: {stroke: () => color('grid'), width: 1},
    };
    const long = this.xs[this.xs.length - 1] > LONG * 1000;
    /** @type {(millis: number) => string} */
    const since = long ? sinceStart : millis => number(millis / 1000);
    /** @param {number} at */
    const place = at => scale ? `${number(100 - 100 / at)} %`
      : x === 'time' ? timeLabels(null, [at], 0, 0, 1000)[0] : since(at);
    /** @type {uPlot.Axis.Values} */
    const places = scale ? (_, splits) => splits.map(at => scale.text(at)) : (_, splits) => splits.map(since);
    const plot = new uPlot({
      width: this.width(), height: this.width() < 500 ? 220 : 280, ms: 1, tzDate: zoned,
      cursor: {drag: {x: true, y: false}, y: false, focus: {prox: 24}}, focus: {alpha: stacked ? 1 : 0.35},
      scales: {
        x: scale ? {time: false, distr: 3, range: () => [1, 10 ** scale.steps]} : {time: x === 'time'},
        y: log ? {distr: 3} : {range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.05 : 1]},
      },
      series: [
        {label, value: (_, at) => at === null ? '--' : place(at)},
        ...order.map(({line, values}) => /** @type {uPlot.Series} */ ({
          label: line.name + (line.published ? ' (published)' : ''), spanGaps: scale !== null, width: stacked ? 0 : 2,
          stroke: () => this.color(line), fill: stacked ? () => this.color(line) : undefined,
          dash: line.published ? [6, 4] : undefined,
          points: {show: scale !== null || !stacked && this.xs.length < 40, size: 6},
          value: (_, __, ___, i) => i === null ? '--' : `${number(values[i])} ${unit}`,
        })),
      ],
      axes: [
        {...axis, label, size: 34, values: x === 'time' ? timeLabels : places},
        {...axis, label: unit, size: AXIS_WIDTH + 16, values: (_, splits) => splits.map(number)},
      ],
      legend: {markers: {width: 0, fill: (_, i) => i ? this.color(order[i - 1].line) : ''}},
      hooks: {setScale: [(changed, key) => {
        const {min, max} = changed.scales.x;
        if (key === 'x' && changed.status === 1) zoomed?.(Number(min), Number(max));
      }]},
    }, this.data(), this.host);
    selectByTouch(plot, () => {
      const {left, width} = plot.select;
      if (width > 3) plot.setScale('x', {min: plot.posToVal(left, 'x'), max: plot.posToVal(left + width, 'x')});
      plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    });
    return plot;
  }

  /** @param {number} from @param {number} to */
  move(from, to) {
    const {min, max} = this.plot.scales.x;
    if (min !== from || max !== to) this.plot.setScale('x', {min: from, max: to});
  }
}
