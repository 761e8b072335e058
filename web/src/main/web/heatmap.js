// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {el, clean, oncePerFrame} from './dom.js';
import {clock, percent} from './format.js';
import {color, intensity, onScheme, poolColors} from './palette.js';

/** @typedef {import('./series.js').ThreadSeries} ThreadSeries */
/** @typedef {import('./series.js').ThreadLine} ThreadLine */

const ROW = 18;
/** Where there is no room for names beside the cells, they are above them. */
const NAME_ROW = 15;
/** A cell has so many parts, of which the share of system time has the darker color of the pool, as in the chart. */
const PARTS = 9;
const MAX_COLUMNS = 1200;
const NARROW = 700;

/** The CPU usage of threads over time. The intensity of a cell shows CPU usage, its dark part the share of system time. */
export class Heatmap {
  /**
   * @param {HTMLElement} host
   * @param {{pick: (line: ThreadLine) => void, area: () => {left: number, width: number}}} actions `area` is the part of the page with the data of the chart above, in pixels
   */
  constructor(host, actions) {
    this.host = host;
    this.actions = actions;
    /** @type {ThreadLine[]} */
    this.rows = [];
    /** @type {ThreadSeries|null} */
    this.series = null;
    this.from = 0;
    this.to = 1;
    this.end = 100;
    this.what = 'threads';
    this.highlight = '';
    this.pool = '';
    this.begin = 0;
    /** @type {number|null} */
    this.hoverTime = null;
    this.cursor = {row: -1, time: 0};
    this.canvas = el('canvas', {tabindex: '0', role: 'img'});
    this.names = el('div', {class: 'heat-names'});
    this.tip = el('div', {class: 'tip', hidden: true, role: 'status'});
    this.scale = el('div', {class: 'heat-scale'});
    this.plotBox = el('div', {class: 'heat-plot'}, this.canvas, this.tip);
    host.replaceChildren(this.plotBox, this.names);
    this.cells = document.createElement('canvas');
    this.draw = oncePerFrame(() => this.paint());
    this.observer = new ResizeObserver(this.draw);
    this.observer.observe(this.plotBox);
    this.readColors();
    this.offScheme = onScheme(() => {
      this.readColors();
      this.fillCells();
      this.draw();
    });
    this.canvas.addEventListener('pointermove', event => this.hover(event.offsetX, event.offsetY));
    this.canvas.addEventListener('pointerleave', () => this.unhover());
    this.canvas.addEventListener('blur', () => this.unhover());
    this.canvas.addEventListener('click', event => this.pickAt(Math.floor(event.offsetY / this.pitch)));
    this.canvas.addEventListener('keydown', event => this.key(event));
  }

  readColors() {
    this.colors = {text: color('text'), card: color('card'), grid: color('grid'), bad: color('bad'), muted: color('muted'), accent: color('accent')};
    const gradients = /** @type {const} */ (['user', 'system']).map(which => {
      const bar = el('i', {class: 'gradient', 'aria-hidden': 'true'});
      bar.style.background = `linear-gradient(to right, var(--card), ${poolColors('(other)')[which]})`;
      return el('span', {}, which + ' ', bar);
    });
    this.scaleEnd = el('span', {text: ''});
    this.scale.replaceChildren(el('span', {text: '0'}), ...gradients, this.scaleEnd);
  }

  /**
   * @param {ThreadSeries} series @param {ThreadLine[]} rows @param {number} from @param {number} to
   */
  show(series, rows, from, to) {
    this.series = series;
    this.rows = rows;
    this.from = from;
    this.to = to;
    let max = 0;
    // A row without a pool and a tid is the sum of other threads.
    for (const row of rows.filter(({pool, tid}) => pool || tid)) for (const value of row.cpu) max = Math.max(max, value || 0);
    this.end = [1, 2, 5, 10, 20, 50].find(end => max <= end) || 100;
    this.canvas.setAttribute('aria-label', `CPU use of ${rows.length} ${this.what} over time; the arrow keys move through it, Enter selects one`);
    this.fillCells();
    this.label();
    this.draw();
  }

  /** Moves to another range with the existing data. @param {number} from @param {number} to */
  move(from, to) {
    this.from = from;
    this.to = to;
    this.draw();
  }

  /** Draws one pixel per cell, which the browser then enlarges. */
  fillCells() {
    if (!this.series) return;
    const times = this.series.times, merge = Math.max(1, Math.ceil(times.length / MAX_COLUMNS));
    const start = times.length ? times[0] : 0, step = this.series.step * merge;
    const columns = Math.max(1, times.length ? Math.round((times[times.length - 1] - start) / step) + 1 : 1);
    const width = Math.min(columns, MAX_COLUMNS * 2), height = Math.max(1, this.rows.length);
    this.cellStart = start;
    this.cellStep = step;
    this.cells.width = width;
    this.cells.height = height * PARTS;
    const context = this.cells.getContext('2d');
    if (!context) return;
    const image = context.createImageData(width, height * PARTS), pixels = new Uint32Array(image.data.buffer);
    const places = times.map(time => Math.min(width - 1, Math.max(0, Math.round((time - start) / step))));
    this.rows.forEach((row, y) => {
      /** Merged columns show the highest value. */
      const peaks = new Float64Array(width);
      const {user, system} = poolColors(row.pool), userPixel = intensity(user), systemPixel = intensity(system);
      for (let i = 0; i < times.length; i++) {
        const value = row.cpu[i], x = places[i], at = y * PARTS * width + x;
        if (value === null || value === undefined || pixels[at] && value <= peaks[x]) continue;
        peaks[x] = value;
        const dark = value > 0 ? Math.round((row.system[i] || 0) / value * PARTS) : 0;
        const colors = [systemPixel(value / this.end), userPixel(value / this.end)];
        // Live intervals are not exactly one step long; this must not look like a gap.
        const next = times[i + 1] - times[i] < step * 1.9 ? places[i + 1] : x + 1;
        const end = at + Math.max(1, next - x);
        for (let part = 0; part < PARTS; part++) pixels.fill(colors[part < dark ? 0 : 1], at + part * width, end + part * width);
      }
    });
    context.putImageData(image, 0, 0);
    if (this.scaleEnd) this.scaleEnd.textContent = `${this.end} % of a core`;
  }

  label() {
    this.names.replaceChildren(...this.rows.map(row => {
      const name = el('button', {type: 'button', tabindex: '-1', text: row.name, title: row.name, onclick: () => this.actions.pick(row)});
      name.classList.toggle('chosen', this.isHighlighted(row));
      return name;
    }));
  }

  /** @param {ThreadLine} row */
  isHighlighted(row) {
    return row.key === this.highlight || this.pool !== '' && `${row.kind} ${row.pool}` === this.pool;
  }

  /** The height of a row with its name. */
  get pitch() {
    return innerWidth < NARROW ? ROW + NAME_ROW : ROW;
  }

  place() {
    const area = this.actions.area(), left = area.left - this.plotBox.getBoundingClientRect().left;
    return {left: Math.max(0, left), width: Math.max(10, area.width)};
  }

  /** @param {number} time */
  x(time) {
    const {left, width} = this.place();
    return left + (time - this.from) / (this.to - this.from) * width;
  }

  paint() {
    const {pitch} = this, above = pitch - ROW;
    const width = this.plotBox.clientWidth, height = Math.max(pitch, this.rows.length * pitch), ratio = devicePixelRatio;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = width + 'px';
      this.canvas.style.height = height + 'px';
    }
    const context = this.canvas.getContext('2d');
    if (!context || !this.series || !this.colors) return;
    const {left, width: area} = this.place();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(left, 0, area, height);
    context.clip();
    context.imageSmoothingEnabled = false;
    const start = this.x(this.cellStart || 0), end = this.x((this.cellStart || 0) + (this.cellStep || 1) * this.cells.width);
    context.fillStyle = this.colors.grid;
    for (let y = 0; y < this.rows.length; y++) {
      context.fillRect(left, y * pitch + above, area, ROW - 1);
      context.drawImage(this.cells, 0, y * PARTS, this.cells.width, PARTS, start, y * pitch + above, end - start, ROW - 1);
    }
    this.drawLines(context, height);
    context.restore();
    this.rows.forEach((row, y) => {
      if (!this.isHighlighted(row)) return;
      context.strokeStyle = this.colors?.bad || '';
      context.lineWidth = 2;
      context.strokeRect(left + 1, y * pitch + above + 1, area - 2, ROW - 3);
    });
    if (above) this.drawNames(context, left, area);
    if (this.cursor.row >= 0 && document.activeElement === this.canvas) {
      context.strokeStyle = this.colors.accent;
      context.strokeRect(this.x(this.cursor.time) - 2, this.cursor.row * pitch + above, Math.max(5, area / 100), ROW);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {number} height */
  drawLines(context, height) {
    if (this.begin >= this.from && this.begin <= this.to) {
      context.fillStyle = this.colors?.bad || '';
      context.fillRect(this.x(this.begin) - 1, 0, 2, height);
    }
    if (this.hoverTime === null) return;
    context.fillStyle = this.colors?.muted || '';
    context.fillRect(this.x(this.hoverTime), 0, 1, height);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} left @param {number} width */
  drawNames(context, left, width) {
    context.font = '11.5px system-ui, sans-serif';
    this.rows.forEach((row, y) => {
      context.fillStyle = this.colors?.[this.isHighlighted(row) ? 'bad' : 'text'] || '';
      context.fillText(clean(row.name), left, y * this.pitch + NAME_ROW - 3, width);
    });
  }

  /** @param {number} x @param {number} y */
  hover(x, y) {
    const {left, width} = this.place();
    if (x < left || x > left + width) return this.unhover();
    this.showTip(Math.floor(y / this.pitch), this.from + (x - left) / width * (this.to - this.from));
  }

  /** @param {number} y @param {number} time */
  showTip(y, time) {
    const row = this.rows[y], series = this.series;
    if (!row || !series) return this.unhover();
    const index = series.times.findIndex(start => start <= time && time < start + series.step * 1.01);
    const value = index < 0 ? null : row.cpu[index];
    const place = [clock(index < 0 ? time : series.times[index]), row.pool && row.pool !== row.name && 'pool ' + row.pool, row.tid && 'tid ' + row.tid];
    const lines = [el('strong', {text: row.name}), el('div', {text: place.filter(Boolean).join(', ')})];
    lines.push(el('div', {text: value === null || value === undefined
      ? 'no data' : `CPU ${percent(value)} %, system ${percent(row.system[index])} %`}));
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    const x = this.x(time), half = this.plotBox.clientWidth / 2;
    this.tip.style.left = (x > half ? x - this.tip.offsetWidth - 14 : x + 14) + 'px';
    this.tip.style.top = (y + 1) * this.pitch + 4 + 'px';
  }

  unhover() {
    this.tip.hidden = true;
  }

  /** @param {number} y */
  pickAt(y) {
    if (this.rows[y]) this.actions.pick(this.rows[y]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const {cursor, series} = this, step = Math.max(series?.step ?? 1000, (this.to - this.from) / 100);
    const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -step], ArrowRight: [0, step]};
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (event.key === 'Enter') this.pickAt(cursor.row);
    else if (!move) return;
    else {
      if (cursor.row < 0 || cursor.time < this.from || cursor.time > this.to) cursor.time = this.to - step;
      cursor.row = Math.max(0, Math.min(this.rows.length - 1, cursor.row + move[0]));
      cursor.time = Math.max(this.from, Math.min(this.to - 1, cursor.time + move[1]));
      this.showTip(cursor.row, cursor.time);
      this.draw();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  close() {
    this.observer.disconnect();
    this.offScheme();
    this.host.replaceChildren();
  }
}
