// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {oncePerFrame, clean, el, setText} from './dom.js';
import {clock, day, percent, zoned} from './format.js';
import {ChartOverlay} from './overlay.js';
import {color, onScheme, poolColors} from './palette.js';
import {LAYERS, PoolStack} from './stack.js';
import {selectByTouch} from './touch.js';

/** @typedef {import('./series.js').PoolSeries} PoolSeries */

const ANIMATION_MILLIS = 180;
export const AXIS_WIDTH = 52;

/** @param {uPlot|null} _ @param {number[]} splits @param {number} __ @param {number} ___ @param {number} increment */
export function timeLabels(_, splits, __, ___, increment) {
  return splits.map((time, i) => {
    const text = increment < 1000 ? clock(time) + '.' + String(Math.floor(time % 1000 / 100)) : increment < 60_000 ? clock(time) : clock(time).slice(0, 5);
    if (increment >= 86_400_000) return day(time).slice(5);
    return text === '00:00' || i === 0 && increment >= 3_600_000 ? day(time).slice(5) + '\n' + text : text;
  });
}

/** A stacked area chart of the CPU usage of pools. Dragging selects a range. */
export class PoolChart {
  /**
   * @param {HTMLElement} host
   * @param {{select: (from: number, to: number) => void, hover: (time: number|null) => void,
   *   figure?: (value: number) => string}} actions `figure` formats values that are not in percent
   */
  constructor(host, actions) {
    this.host = host;
    this.actions = actions;
    this.stack = new PoolStack();
    this.overlay = new ChartOverlay();
    this.from = 0;
    this.to = 1;
    this.top = 10;
    this.highlight = '';
    this.what = 'pool';
    this.animation = 0;
    this.tip = el('div', {class: 'tip', hidden: true});
    this.readColors();
    this.plot = new uPlot(this.options(), this.stack.data(), host);
    host.append(this.tip);
    this.draw = oncePerFrame(() => this.plot.redraw(false));
    const resize = oncePerFrame(() => this.resize());
    this.observer = new ResizeObserver(resize);
    this.observer.observe(host);
    this.offScheme = onScheme(() => {
      this.readColors();
      this.overlay.readColors();
      this.plot.redraw(true);
    });
    selectByTouch(this.plot, () => this.selected(this.plot));
  }

  readColors() {
    this.colors = {muted: color('muted'), grid: color('grid')};
  }

  /** @returns {uPlot.Options} */
  options() {
    const stepped = /** @type {uPlot.Series.PathBuilder} */ (uPlot.paths.stepped?.({align: 1}));
    /** @type {uPlot.Series[]} */
    const layers = Array.from({length: LAYERS}, () => ({
      spanGaps: false, points: {show: false}, width: 0,
      fill: (_, index) => this.fill(LAYERS - index),
      paths: (plot, index, from, to) => LAYERS - index < this.stack.order.length * 2 ? stepped(plot, index, from, to) : null,
    }));
    /** @type {Pick<uPlot.Axis, 'stroke'|'font'|'ticks'|'grid'>} */
    const axis = {
      stroke: () => this.colors?.muted || '', font: '12px system-ui, sans-serif', ticks: {show: false},
      grid: {stroke: () => this.colors?.grid || '', width: 1},
    };
    return {
      width: Math.max(100, this.host.clientWidth), height: this.height(), ms: 1, tzDate: zoned,
      legend: {show: false}, padding: [22, 0, 0, 0],
      cursor: {drag: {x: true, y: false, setScale: false}, y: false, points: {show: false}},
      scales: {x: {time: true, auto: false, range: () => [this.from, this.to]}, y: {auto: false, range: () => [0, this.top]}},
      series: [{}, ...layers],
      axes: [
        {...axis, space: () => this.host.clientWidth < 500 ? 56 : 76, size: 34, values: timeLabels},
        {...axis, size: AXIS_WIDTH, space: 36, values: (_, splits) => splits.map(value => this.actions.figure?.(value) ?? value + ' %')},
      ],
      hooks: {
        setSelect: [plot => this.selected(plot)], setCursor: [plot => this.hovered(plot)],
        draw: [plot => this.overlay.drawOver(plot)], drawClear: [plot => this.overlay.drawUnder(plot)],
      },
    };
  }

  height() {
    return this.host.clientWidth < 500 ? 220 : 300;
  }

  resize() {
    const width = Math.max(100, this.host.clientWidth), height = this.height();
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({width, height});
  }

  /** The part of the canvas that shows the data, in CSS pixels. */
  area() {
    const {left, width, top, height} = this.plot.bbox, ratio = devicePixelRatio;
    return {left: left / ratio, width: width / ratio, top: top / ratio, height: height / ratio};
  }

  /** @param {number} layer 0 is the lowest */
  fill(layer) {
    const pool = this.stack.order[layer >> 1];
    if (!pool) return 'transparent';
    const faded = this.highlight !== '' && this.highlight !== pool.key;
    const colors = poolColors(pool.pool, faded);
    return layer & 1 ? colors.system : colors.user;
  }

  /**
   * Shows a series. With `again`, reorders the pools.
   * @param {PoolSeries} series @param {number} from @param {number} to @param {boolean} again
   */
  show(series, from, to, again) {
    cancelAnimationFrame(this.animation);
    this.stack.series = series;
    this.stack.rank(again);
    const data = this.stack.data();
    this.from = from;
    this.to = to;
    this.top = this.stack.top(from, to, Math.max(0, ...this.overlay.reference.map(([, value]) => value ?? 0)));
    this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot.setScale('x', {min: from, max: to});
      this.plot.setScale('y', {min: 0, max: this.top});
    });
    this.summarize();
  }

  /** Moves to another range with the existing data, until the data of that range has arrived. @param {number} from @param {number} to */
  animate(from, to) {
    cancelAnimationFrame(this.animation);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const start = performance.now(), oldFrom = this.from, oldTo = this.to;
    const frame = () => {
      const part = Math.min(1, (performance.now() - start) / ANIMATION_MILLIS), eased = 1 - (1 - part) ** 3;
      this.from = oldFrom + (from - oldFrom) * eased;
      this.to = oldTo + (to - oldTo) * eased;
      this.plot.setScale('x', {min: this.from, max: this.to});
      if (part < 1) this.animation = requestAnimationFrame(frame);
    };
    this.animation = requestAnimationFrame(frame);
  }

  summarize() {
    const names = this.stack.order.slice(0, 3).map(line => line.pool).join(', ');
    this.host.setAttribute('aria-label', clean(`CPU use by ${this.what} from ${clock(this.from)} to ${clock(this.to)}; most by ${names || 'none'}`));
  }

  /** @param {uPlot} plot */
  selected(plot) {
    const {left, width} = plot.select;
    if (width > 3) this.actions.select(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
    if (width > 0) plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
  }

  /** @param {uPlot} plot */
  hovered(plot) {
    const left = plot.cursor.left ?? -1;
    const time = left < 0 ? null : plot.posToVal(left, 'x');
    this.actions.hover(time);
    this.showTip(time, left);
  }

  /** @param {number} value */
  figure(value) {
    return this.actions.figure?.(value) ?? `${percent(value)} %`;
  }

  /** @param {number|null} time @param {number} left */
  showTip(time, left) {
    const {series, sums} = this.stack, index = this.stack.indexAt(time);
    this.tip.hidden = index < 0;
    if (index < 0 || !series) return;
    const rows = this.stack.order
      .map(line => ({line, user: line.user[index] || 0, system: line.system[index] || 0}))
      .filter(row => row.user + row.system >= 0.05).sort((a, b) => b.user + b.system - a.user - a.system).slice(0, 8);
    const head = `${clock(series.times[index])}  ${this.figure(sums[index])}`;
    const lines = rows.map(({line, user, system}) => el(
      'div', {class: 'tip-row'}, swatch(line.pool), el('span', {text: line.pool}),
      el('b', {text: this.actions.figure?.(user + system) ?? percent(user + system)}),
      this.actions.figure ? null : el('small', {text: `system ${percent(system)}`})));
    this.tip.replaceChildren(el('strong', {text: head}), ...lines);
    const {left: start, width} = this.area();
    const at = left > width / 2 ? start + left - this.tip.offsetWidth - 14 : start + left + 14;
    this.tip.style.left = Math.max(0, Math.min(at, this.host.clientWidth - this.tip.offsetWidth)) + 'px';
  }

  close() {
    cancelAnimationFrame(this.animation);
    this.observer.disconnect();
    this.offScheme();
    this.plot.destroy();
    this.tip.remove();
    setText(this.tip, '');
  }
}

/** Returns a square with the two shades of a pool. @param {string} pool */
export function swatch(pool) {
  const colors = poolColors(pool), box = el('i', {class: 'swatch', 'aria-hidden': 'true'});
  box.style.background = `linear-gradient(to top, ${colors.user} 55%, ${colors.system} 55%)`;
  return box;
}
