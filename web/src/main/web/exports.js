// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {jvmPath, query} from './api.js';
import {clean, el} from './dom.js';
import {range} from './format.js';
import {color, poolColors} from './palette.js';

const FORMATS = [['csv', 'CSV'], ['json', 'JSON'], ['parquet', 'Parquet']];

/** Fills the menu with links for exporting the data on the screen. @param {HTMLElement} menu @param {import('./jvm.js').JvmView} view @param {() => void} image */
export function fillExports(menu, {id, data}, image) {
  const {from, to} = data, rows = ['pool', 'thread', ...data.accountTypes().length ? ['account'] : []];
  menu.replaceChildren(...rows.map(by => el('p', {}, `By ${by}: `, ...FORMATS.flatMap(([format, name]) => [
    el('a', {href: query(jvmPath(id, '/export'), {from: Math.floor(from), to: Math.ceil(to), by, format}), download: '', text: name}), ' ']))),
  el('p', {}, el('button', {type: 'button', text: 'Image (PNG)', onclick: image})));
}

/**
 * Saves the chart and the heatmap, with names, as a PNG image.
 * @param {string} title @param {import('./chart.js').PoolChart} chart @param {import('./heatmap.js').Heatmap} heatmap
 */
export function saveImage(title, chart, heatmap) {
  const ratio = devicePixelRatio, plot = chart.plot.ctx.canvas, heat = heatmap.canvas, side = 240;
  const width = Math.max(plot.width / ratio, heat.width / ratio) + side, top = 48;
  const chartHeight = plot.height / ratio, height = top + chartHeight + 12 + heat.height / ratio + 12;
  const canvas = document.createElement('canvas');
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(ratio, ratio);
  context.fillStyle = color('card');
  context.fillRect(0, 0, width, height);
  context.fillStyle = color('text');
  context.font = '600 16px system-ui, sans-serif';
  context.fillText(clean(title), 12, 22);
  context.font = '13px system-ui, sans-serif';
  context.fillText(`${range(chart.from, chart.to)}; percent of one core`, 12, 41);
  context.drawImage(plot, 0, top, plot.width / ratio, chartHeight);
  context.drawImage(heat, 0, top + chartHeight + 12, heat.width / ratio, heat.height / ratio);
  const x = width - side + 12;
  chart.stack.order.forEach((line, i) => {
    const y = top + 34 + i * 22, colors = poolColors(line.pool);
    context.fillStyle = colors.system;
    context.fillRect(x, y - 11, 12, 6);
    context.fillStyle = colors.user;
    context.fillRect(x, y - 5, 12, 6);
    context.fillStyle = color('text');
    context.fillText(clean(line.pool), x + 18, y, side - 40);
  });
  context.font = '11.5px system-ui, sans-serif';
  heatmap.rows.forEach((row, i) => context.fillText(clean(row.name), x, top + chartHeight + 12 + i * heatmap.pitch + 13, side - 24));
  canvas.toBlob(blob => {
    if (!blob) return;
    const link = el('a', {href: URL.createObjectURL(blob), download: 'taskclock.png'});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
