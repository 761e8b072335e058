// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, jvmPath, messageOf, query} from './api.js';
import {el, scrollBox} from './dom.js';
import {duration, percent, range} from './format.js';

/**
 * @typedef {{what: string, name: string, kind?: string|null, cpuPercentA: number, cpuPercentB: number, userPercentA: number,
 *   userPercentB: number, errorPercent?: number|null, changed: boolean}} Change
 */

/** Compares two ranges of one JVM, with the statistics of `taskclock diff`. */
export class Comparison {
  /** @param {HTMLElement} host @param {string} jvm @param {() => void} close */
  constructor(host, jvm, close) {
    this.host = host;
    this.jvm = jvm;
    this.closeComparison = close;
    this.all = false;
    this.shown = '';
    this.by = '';
  }

  /** @param {[number, number][]} ranges @param {string} by the type of accounts to compare; an empty string for pools and threads */
  async show(ranges, by) {
    this.host.hidden = false;
    this.by = by;
    const key = JSON.stringify([ranges, by]) + this.all;
    if (key === this.shown) return;
    this.shown = key;
    const title = el('div', {class: 'bar'}, el('h2', {text: 'Compare two ranges'}), el('span', {class: 'grow'}),
      el('button', {type: 'button', text: 'Close', onclick: this.closeComparison}));
    if (ranges.length < 2) {
      this.host.replaceChildren(title, el('p', {class: 'note', text: ranges.length
        ? `A is ${range(...ranges[0])}. Now drag over range B in the chart.` : 'Drag over range A in the chart, and then over range B.'}));
      return;
    }
    const [[from1, to1], [from2, to2]] = ranges.map(([from, to]) => [Math.round(from), Math.round(to)]);
    const status = el('p', {class: 'note', text: 'Comparing\u2026', role: 'status'});
    this.host.replaceChildren(title, this.legend(ranges), status);
    try {
      const data = await get(query(jvmPath(this.jvm, '/compare'), {from1, to1, from2, to2}));
      if (key !== this.shown) return;
      status.remove();
      this.table((data.changes || []).filter((/** @type {Change} */ change) => this.isShown(change)));
    } catch (e) {
      status.textContent = messageOf(e);
      status.className = 'bad';
    }
  }

  /** @param {[number, number][]} ranges */
  legend(ranges) {
    return el('p', {class: 'ranges'}, ...ranges.flatMap(([from, to], i) => [
      el('b', {class: i ? 'range-b' : 'range-a', text: 'AB'[i]}), ` ${range(from, to)} (${duration(to - from)})  `]));
  }

  /** @param {Change} change */
  isShown({what, name}) {
    if (what === 'account') return this.by !== '' && name.startsWith(this.by + '=');
    return this.by === '' || what === 'process';
  }

  /** @param {Change} change */
  nameOf({what, name}) {
    return what === 'process' ? 'process' : what === 'account' ? name.slice(this.by.length + 1) : name;
  }

  /** @param {Change[]} changes */
  table(changes) {
    const shown = changes.filter(change => this.all || change.changed || change.what === 'process');
    const rows = shown.map(change => {
      const difference = change.cpuPercentB - change.cpuPercentA, known = typeof change.errorPercent === 'number';
      return el('tr', {class: change.changed ? 'changed' : ''},
        el('th', {scope: 'row', text: this.nameOf(change)}), el('td', {text: change.what}),
        el('td', {class: 'number', text: percent(change.cpuPercentA)}), el('td', {class: 'number', text: percent(change.cpuPercentB)}),
        el('td', {class: 'number strong', text: (difference < 0 ? '\u2212' : '+') + percent(Math.abs(difference))}),
        el('td', {class: 'number', text: known ? '\u00b1' + percent(change.errorPercent) : '-'}),
        el('td', {class: 'number', text: percent(Math.max(0, change.cpuPercentA - change.userPercentA))}),
        el('td', {class: 'number', text: percent(Math.max(0, change.cpuPercentB - change.userPercentB))}),
        el('td', {text: change.changed ? difference > 0 ? 'more' : 'less' : known ? 'no significant change' : 'too short to tell'}));
    });
    const heads = ['NAME', 'WHAT', 'A CPU%', 'B CPU%', 'CHANGE', 'CHANCE', 'A SYS%', 'B SYS%', ''];
    const all = el('button', {type: 'button', 'aria-pressed': String(this.all), text: `Show all ${changes.length}`, onclick: () => {
      this.all = !this.all;
      all.setAttribute('aria-pressed', String(this.all));
      scroll.remove();
      note.remove();
      all.remove();
      this.table(changes);
    }});
    const scroll = scrollBox('Changes', el('table', {class: 'compare'},
      el('thead', {}, el('tr', {}, ...heads.map(head => el('th', {scope: 'col', text: head})))), el('tbody', {}, ...rows)));
    const note = el('p', {class: 'note', text: (changes.some(change => change.changed) ? '' : `No significant change in any ${this.by ? 'account' : 'pool or thread'}. `)
      + 'CHANCE is the difference that chance exceeds in fewer than 1 in 1,000 cases. All figures are percent of one core.'});
    this.host.append(scroll, note, all);
  }

  hide() {
    this.shown = '';
    this.host.hidden = true;
    this.host.replaceChildren();
  }
}
