// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {oncePerFrame, clean, el, setText} from './dom.js';
import {clock, day, percent} from './format.js';
import {color, onScheme, poolColors} from './palette.js';

/** @typedef {import('./series.js').PoolSeries} PoolSeries */
/** @typedef {import('./series.js').PoolLine} PoolLine */

const MAX_POOLS = 10;
const LAYERS = MAX_POOLS * 2;
const ANIMATION_MILLIS = 180;
export const AXIS_WIDTH = 52;

/** @param {number} max */
function niceEnd(max) {
  const least = Math.max(10, max * 1.04), unit = 10 ** Math.floor(Math.log10(least));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(factor => factor * unit).find(end => end >= least) || least;
}

/** @param {uPlot} _ @param {number[]} splits @param {number} __ @param {number} ___ @param {number} increment */
function timeLabels(_, splits, __, ___, increment) {
  return splits.map((time, i) => {
    const text = increment < 1000 ? clock(time) + '.' + String(Math.floor(time % 1000 / 100)) : increment < 60_000 ? clock(time) : clock(time).slice(0, 5);
    if (increment >= 86_400_000) return day(time).slice(5);
    return text === '00:00' || i === 0 && increment >= 3_600_000 ? day(time).slice(5) + '\n' + text : text;
  });
}

/** A stacked area of the CPU use of pools. Drag selects a range. */
export class PoolChart {
  /**
   * @param {HTMLElement} host
   * @param {{select: (from: number, to: number) => void, hover: (time: number|null) => void}} actions
   */
  constructor(host, actions) {
    this.host = host;
    this.actions = actions;
    /** The pools from the bottom, biggest first. @type {PoolLine[]} */
    this.order = [];
    /** @type {PoolSeries|null} */
    this.series = null;
    this.from = 0;
    this.to = 1;
    this.top = 10;
    this.highlight = '';
    this.begin = 0;
    this.beginText = '';
    /** @type {{time: number, kind: string}[]} */
    this.marks = [];
    /** @type {[number, number][]} */
    this.brushes = [];
    this.animation = 0;
    this.tip = el('div', {class: 'tip', hidden: true});
    this.readColors();
    this.plot = new uPlot(this.options(), this.data(), host);
    host.append(this.tip);
    this.draw = oncePerFrame(() => this.plot.redraw(false));
    const resize = oncePerFrame(() => this.resize());
    this.observer = new ResizeObserver(resize);
    this.observer.observe(host);
    this.offScheme = onScheme(() => {
      this.readColors();
      this.plot.redraw(true);
    });
    this.touch();
  }

  readColors() {
    this.colors = {muted: color('muted'), grid: color('grid'), line: color('line'), bad: color('bad'), accent: color('accent'), card: color('card')};
  }

  /** @returns {uPlot.Options} */
  options() {
    const stepped = /** @type {uPlot.Series.PathBuilder} */ (uPlot.paths.stepped?.({align: 1}));
    /** @type {uPlot.Series[]} */
    const layers = Array.from({length: LAYERS}, () => ({
      spanGaps: false, points: {show: false}, width: 0,
      fill: (_, index) => this.fill(LAYERS - index),
      paths: (plot, index, from, to) => LAYERS - index < this.order.length * 2 ? stepped(plot, index, from, to) : null,
    }));
    /** @type {Pick<uPlot.Axis, 'stroke'|'font'|'ticks'|'grid'>} */
    const axis = {
      stroke: () => this.colors?.muted || '', font: '12px system-ui, sans-serif', ticks: {show: false},
      grid: {stroke: () => this.colors?.grid || '', width: 1},
    };
    return {
      width: Math.max(100, this.host.clientWidth), height: this.height(), ms: 1, legend: {show: false}, padding: [22, 0, 0, 0],
      cursor: {drag: {x: true, y: false, setScale: false}, y: false, points: {show: false}},
      scales: {x: {time: true, auto: false, range: () => [this.from, this.to]}, y: {auto: false, range: () => [0, this.top]}},
      series: [{}, ...layers],
      axes: [
        {...axis, space: () => this.host.clientWidth < 500 ? 56 : 76, size: 34, values: timeLabels},
        {...axis, size: AXIS_WIDTH, space: 36, values: (_, splits) => splits.map(value => value + ' %')},
      ],
      hooks: {
        setSelect: [plot => this.selected(plot)], setCursor: [plot => this.hovered(plot)],
        draw: [plot => this.drawOver(plot)], drawClear: [plot => this.drawUnder(plot)],
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

  /** The part of the canvas in which the data is, in CSS pixels. */
  area() {
    const {left, width, top, height} = this.plot.bbox, ratio = devicePixelRatio;
    return {left: left / ratio, width: width / ratio, top: top / ratio, height: height / ratio};
  }

  /** @param {number} layer 0 is the lowest */
  fill(layer) {
    const pool = this.order[layer >> 1];
    if (!pool) return 'transparent';
    const faded = this.highlight !== '' && this.highlight !== pool.key;
    const colors = poolColors(pool.pool, faded);
    return layer & 1 ? colors.system : colors.user;
  }

  /** Keeps the order of the pools while it is not far from right, so that the areas do not change places. @param {boolean} again */
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
    for (const line of this.order) poolColors(line.pool); // the biggest pools get the first colors
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

  /**
   * Shows a series. With `again`, the pools are ordered anew.
   * @param {PoolSeries} series @param {number} from @param {number} to @param {boolean} again
   */
  show(series, from, to, again) {
    cancelAnimationFrame(this.animation);
    this.series = series;
    this.rank(again);
    const data = this.data();
    this.from = from;
    this.to = to;
    this.fit();
    this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot.setScale('x', {min: from, max: to});
      this.plot.setScale('y', {min: 0, max: this.top});
    });
    this.summarize();
  }

  fit() {
    let max = 0;
    const times = this.series?.times ?? [], step = this.series?.step ?? 0;
    this.sums?.forEach((sum, i) => {
      if (times[i] + step > this.from && times[i] < this.to) max = Math.max(max, sum);
    });
    this.top = niceEnd(max);
  }

  /** Moves to another range with the data that is there, until the data of that range has arrived. @param {number} from @param {number} to */
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
    const names = this.order.slice(0, 3).map(line => line.pool).join(', ');
    this.host.setAttribute('aria-label', clean(`CPU use by pool from ${clock(this.from)} to ${clock(this.to)}; most by ${names || 'none'}`));
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

  /** @param {number|null} time */
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

  /** @param {number|null} time @param {number} left */
  showTip(time, left) {
    const index = this.indexAt(time);
    this.tip.hidden = index < 0;
    if (index < 0 || !this.series) return;
    const rows = this.order
      .map(line => ({line, user: line.user[index] || 0, system: line.system[index] || 0}))
      .filter(row => row.user + row.system >= 0.05).sort((a, b) => b.user + b.system - a.user - a.system).slice(0, 8);
    const head = `${clock(this.series.times[index])}  ${percent(this.sums?.[index])} %`;
    const lines = rows.map(({line, user, system}) => el(
      'div', {class: 'tip-row'}, swatch(line.pool), el('span', {text: line.pool}),
      el('b', {text: percent(user + system)}), el('small', {text: `system ${percent(system)}`})));
    this.tip.replaceChildren(el('strong', {text: head}), ...lines);
    const {left: start, width} = this.area();
    const at = left > width / 2 ? start + left - this.tip.offsetWidth - 14 : start + left + 14;
    this.tip.style.left = Math.max(0, Math.min(at, this.host.clientWidth - this.tip.offsetWidth)) + 'px';
  }

  /** @param {uPlot} plot */
  drawUnder(plot) {
    const {ctx, bbox} = plot;
    this.brushes.forEach(([from, to], i) => {
      const left = plot.valToPos(from, 'x', true), right = plot.valToPos(to, 'x', true);
      ctx.save();
      ctx.globalAlpha = 0.16;
      ctx.fillStyle = (i ? this.colors?.bad : this.colors?.accent) || '';
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.restore();
    });
  }

  /** @param {uPlot} plot */
  drawOver(plot) {
    const {ctx, bbox} = plot, ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
    ctx.clip();
    /** @param {number} time @param {string} stroke @param {number} width @param {number[]} dash */
    const line = (time, stroke, width, dash) => {
      const x = Math.round(plot.valToPos(time, 'x', true));
      ctx.strokeStyle = stroke;
      ctx.lineWidth = width * ratio;
      ctx.setLineDash(dash.map(length => length * ratio));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      return x;
    };
    for (const mark of this.marks) line(mark.time, this.colors?.muted || '', 1, [2, 4]);
    this.brushes.forEach(([from, to], i) => {
      const stroke = (i ? this.colors?.bad : this.colors?.accent) || '';
      const x = line(from, stroke, 1.5, []);
      line(to, stroke, 1.5, []);
      this.label(ctx, 'AB'[i], x + 4 * ratio, bbox.top + 14 * ratio, stroke);
    });
    if (this.begin >= this.from && this.begin <= this.to) {
      const x = line(this.begin, this.colors?.bad || '', 2, []);
      const text = `began ${clock(this.begin)}`, left = x > bbox.left + bbox.width * 0.7;
      ctx.textAlign = left ? 'right' : 'left';
      this.label(ctx, text, x + (left ? -5 : 5) * ratio, bbox.top + 14 * ratio, this.colors?.bad || '');
    }
    ctx.restore();
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} x @param {number} y @param {string} fill */
  label(ctx, text, x, y, fill) {
    ctx.font = `600 ${12.5 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.setLineDash([]);
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.strokeStyle = this.colors?.card || '';
    ctx.strokeText(text, x, y);
    ctx.fillStyle = fill;
    ctx.fillText(text, x, y);
  }

  /** Selects by touch as by the mouse. Vertical movements scroll the page. */
  touch() {
    const over = this.plot.over;
    let start = -1;
    over.addEventListener('pointerdown', event => {
      start = event.pointerType === 'touch' ? event.offsetX : -1;
    });
    over.addEventListener('pointermove', event => {
      if (start < 0) return;
      const left = Math.max(0, Math.min(start, event.offsetX)), right = Math.min(over.clientWidth, Math.max(start, event.offsetX));
      this.plot.setSelect({left, top: 0, width: right - left, height: over.clientHeight}, false);
    });
    over.addEventListener('pointercancel', () => {
      start = -1;
      this.plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    });
    over.addEventListener('pointerup', () => {
      if (start >= 0) this.selected(this.plot);
      start = -1;
    });
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
