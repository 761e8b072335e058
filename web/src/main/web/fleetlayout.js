// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {button, el} from './dom.js';
import {DIMENSIONS} from './fleetrows.js';
import {navigate} from './state.js';

/** The ranges of a fleet, which are some of those of a host. */
export const RANGES = /** @type {[string, string][]} */ ([
  ['1h', '1 h'], ['6h', '6 h'], ['24h', '24 h'], ['7d', '7 d'], ['30d', '30 d']]);

/** The elements of the view of a fleet. */
export class FleetLayout {
  /** @param {HTMLElement} host @param {import('./fleet.js').FleetView} view */
  constructor(host, view) {
    this.title = el('h1', {tabindex: '-1'});
    this.back = el('a', {class: 'back', text: '\u2190 All services'});
    this.figures = el('p', {class: 'big', role: 'status'});
    this.details = el('p', {class: 'where'});
    this.findingHost = el('section', {class: 'part', 'aria-label': 'Findings', hidden: true});
    this.presets = RANGES.map(([range, text]) => button(
      text, () => navigate({range, from: 0, to: 0}), {'data-range': range}));
    this.choices = DIMENSIONS.map(([by, text]) => button(
      text, () => navigate({by, sort: 'cpu', reverse: false}), {'data-by': by}));
    this.rangeText = el('span', {class: 'note range-text'});
    this.chartHost = el('div', {class: 'chart', tabindex: '0', role: 'img'});
    this.markHost = el('div', {class: 'marks', role: 'group', 'aria-label': 'Marks'});
    this.legendHost = el('div', {class: 'legend', role: 'group', 'aria-label': 'Lines'});
    this.count = el('span', {class: 'note', role: 'status'});
    this.input = el('input', {
      type: 'search', placeholder: 'Filter: regular expression  (/)', spellcheck: 'false', autocomplete: 'off',
      'aria-label': 'Filter names by a regular expression', value: view.state.filter});
    this.input.addEventListener('input', () => view.setFilter(this.input.value));
    this.tableHost = el('div', {class: 'table-box'});
    this.versionHost = el('section', {class: 'part', 'aria-label': 'Versions', hidden: true});
    host.replaceChildren(
      el('div', {class: 'bar jvm-head'},
        this.back, this.title, el('span', {class: 'grow'}), this.details, this.figures),
      this.findingHost,
      el('section', {class: 'part timeline', 'aria-label': 'CPU over time'},
        el('div', {class: 'bar ranges'},
          el('div', {class: 'segments', role: 'group', 'aria-label': 'Range'}, ...this.presets),
          el('div', {class: 'segments', role: 'group', 'aria-label': 'By'}, ...this.choices), this.rangeText),
        el('div', {class: 'two-columns'},
          el('div', {class: 'chart-box'}, this.markHost, this.chartHost), this.legendHost),
        el('p', {class: 'note', text: 'Cores. The dashed line is the sum a week earlier.'})),
      el('section', {class: 'part', 'aria-label': 'Usage'},
        el('div', {class: 'bar'}, this.count, el('span', {class: 'grow'}), this.input),
        this.tableHost),
      this.versionHost);
  }
}
