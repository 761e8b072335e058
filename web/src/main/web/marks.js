// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {clean, el} from './dom.js';
import {moment} from './format.js';

/** @typedef {import('./types.js').Mark} Mark */

const SYMBOLS = /** @type {Record<string, string>} */ ({start: '\u25b6', end: '\u25a0', finding: '!', attach: '+', detach: '\u2212', deployment: '\u25b2', user: '\u2691'});
const LEAST_DISTANCE = 18;

/** The marks above the chart. Overlapping marks share one symbol. */
export class MarkStrip {
  /** @param {HTMLElement} host @param {(mark: Mark) => void} show */
  constructor(host, show) {
    this.host = host;
    this.showMark = show;
    this.shown = '';
  }

  /** @param {Mark[]} marks @param {(time: number) => number} x @param {number} from @param {number} to */
  show(marks, x, from, to) {
    /** @type {{x: number, marks: Mark[]}[]} */
    const groups = [];
    for (const mark of marks.filter(({time}) => time >= from && time <= to).sort((a, b) => a.time - b.time)) {
      const at = x(mark.time), last = groups[groups.length - 1];
      if (last && at - last.x < LEAST_DISTANCE) last.marks.push(mark);
      else groups.push({x: at, marks: [mark]});
    }
    const text = JSON.stringify(groups.map(group => group.marks));
    if (text !== this.shown) {
      this.shown = text;
      this.host.replaceChildren(...groups.map(group => this.symbol(group.marks)));
    }
    groups.forEach((group, i) => {
      /** @type {HTMLElement} */ (this.host.children[i]).style.left = group.x + 'px';
    });
  }

  /** @param {Mark[]} marks */
  symbol(marks) {
    const worst = marks.find(mark => mark.kind === 'finding') || marks[0];
    const text = marks.slice(0, 12).map(mark => `${moment(mark.time)} ${mark.kind}: ${mark.text}`).join('\n') + (marks.length > 12 ? `\nand ${marks.length - 12} more` : '');
    return el('button', {type: 'button', class: 'mark mark-' + worst.kind.replace(/[^a-z]/g, ''), title: text, 'aria-label': clean(text),
      text: marks.length > 1 ? String(marks.length) : SYMBOLS[worst.kind] || '\u2022', onclick: () => this.showMark(worst)});
  }
}
