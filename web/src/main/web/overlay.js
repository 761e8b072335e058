// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {color} from './palette.js';

/** Draws on the chart: marks, compared ranges, and when a finding began. */
export class ChartOverlay {
  constructor() {
    this.begin = 0;
    this.beginText = '';
    /** @type {{time: number, kind: string}[]} */
    this.marks = [];
    /** @type {[number, number][]} */
    this.brushes = [];
    /** A line for comparison, as times and values. @type {[number, number|null][]} */
    this.reference = [];
    this.readColors();
  }

  readColors() {
    this.colors = {text: color('text'), muted: color('muted'), bad: color('bad'), accent: color('accent'), card: color('card')};
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
    this.drawReference(plot);
    for (const mark of this.marks) line(mark.time, this.colors?.muted || '', 1, [2, 4]);
    this.brushes.forEach(([from, to], i) => {
      const stroke = (i ? this.colors?.bad : this.colors?.accent) || '';
      const x = line(from, stroke, 1.5, []);
      line(to, stroke, 1.5, []);
      this.label(ctx, 'AB'[i], x + 4 * ratio, bbox.top + 14 * ratio, stroke);
    });
    if (this.begin >= Number(plot.scales.x.min) && this.begin <= Number(plot.scales.x.max)) {
      const x = line(this.begin, this.colors?.bad || '', 2, []);
      const left = x > bbox.left + bbox.width * 0.7;
      ctx.textAlign = left ? 'right' : 'left';
      this.label(ctx, this.beginText, x + (left ? -5 : 5) * ratio, bbox.top + 14 * ratio, this.colors?.bad || '');
    }
    ctx.restore();
  }

  /** @param {uPlot} plot */
  drawReference(plot) {
    const {ctx} = plot, ratio = devicePixelRatio;
    ctx.strokeStyle = this.colors?.text || '';
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    let gap = true;
    for (const [time, value] of this.reference) {
      if (value !== null) ctx[gap ? 'moveTo' : 'lineTo'](plot.valToPos(time, 'x', true), plot.valToPos(value, 'y', true));
      gap = value === null;
    }
    ctx.stroke();
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
}
