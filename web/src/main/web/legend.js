// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {el, setText} from './dom.js';
import {swatch} from './chart.js';

/** The pools next to the chart, with their mean in the range or their last value. A click highlights a pool. */
export class Legend {
  /** @param {HTMLElement} host @param {(pool: string) => void} choose */
  constructor(host, choose) {
    this.host = host;
    this.choose = choose;
    this.shown = '';
  }

  /** @param {import('./chart.js').PoolChart} chart @param {boolean} live */
  show(chart, live) {
    const {highlight} = chart, {order, series} = chart.stack;
    const key = order.map(line => line.key).join('\n') + document.documentElement.style.colorScheme;
    if (key !== this.shown) {
      this.shown = key;
      this.host.replaceChildren(...order.map(line => el('button', {type: 'button', class: 'pool', title: line.pool, onclick: () => this.choose(line.key)},
        swatch(line.pool), el('span', {class: 'label', text: line.pool}), el('b', {}))));
    }
    if (!series) return;
    order.forEach((line, i) => {
      const button = /** @type {HTMLElement} */ (this.host.children[i]), last = series.times.length - 1;
      const value = live ? (line.user[last] || 0) + (line.system[last] || 0)
        : (series.mean(line.user, chart.from, chart.to) || 0) + (series.mean(line.system, chart.from, chart.to) || 0);
      setText(/** @type {Node} */ (button.lastChild), chart.figure(value));
      button.setAttribute('aria-pressed', String(highlight === line.key));
    });
  }
}

