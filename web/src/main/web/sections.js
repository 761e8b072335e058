// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {el, scrollBox} from './dom.js';
import {duration} from './format.js';

/** @typedef {import('./types.js').Section} Section */

/** The sections of accounts of one type that were open at the end of the last interval, longest first. */
export class OpenSections {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    const heads = ['ACCOUNT', 'THREAD', 'TID', 'OPEN', 'CPU'];
    this.body = el('tbody');
    this.host.replaceChildren(el('h2', {text: 'Open sections, longest first'}),
      scrollBox('Sections', el('table', {class: 'compare'},
        el('thead', {}, el('tr', {}, ...heads.map(head => el('th', {scope: 'col', text: head})))), this.body)));
  }

  /** @param {Section[]} sections */
  show(sections) {
    this.host.hidden = !sections.length;
    this.body.replaceChildren(...[...sections].sort((a, b) => b.open - a.open).map(({name, thread, tid, open, cpu}) =>
      el('tr', {}, el('th', {scope: 'row', text: name}), el('td', {text: thread}),
        el('td', {class: 'number', text: tid > 0 ? String(tid) : ''}),
        el('td', {class: 'number', text: duration(open * 1000)}),
        el('td', {class: 'number', text: cpu === null ? '-' : duration(cpu * 1000)}))));
  }
}
