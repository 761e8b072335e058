// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {actionButton} from './actions.js';
import {button, el, setText} from './dom.js';
import {fillExports} from './exports.js';
import {openRange} from './rangeflame.js';
import {PRESETS, navigate} from './state.js';

const NAMES = /** @type {Record<string, string>} */ ({live: 'Live', '15m': '15 min', '1h': '1 h', '6h': '6 h', '24h': '24 h', '7d': '7 d', '30d': '30 d'});

/** The elements of the view of one JVM. */
export class JvmLayout {
  /** @param {HTMLElement} host @param {import('./jvm.js').JvmView} view */
  constructor(host, view) {
    this.title = el('h1', {tabindex: '-1'});
    this.where = el('p', {class: 'where'});
    this.figures = el('p', {class: 'big', 'aria-live': 'off'});
    this.details = el('p', {class: 'where details', 'aria-live': 'off'});
    this.explanation = el('ol', {'aria-live': 'off'});
    this.explanationHost = el('details', {class: 'part where-to', open: true, hidden: true}, el('summary', {text: 'Where the CPU time goes, last 10 s'}), this.explanation);
    this.findingHost = el('section', {class: 'part alerts', 'aria-label': 'Findings', hidden: true});
    this.rangeText = el('span', {class: 'note range-text'});
    this.presets = [...PRESETS.keys()].map(name => el('button', {type: 'button', text: NAMES[name], 'data-range': name, onclick: () => navigate({range: name, from: 0, to: 0})}));
    this.compareButton = actionButton('Compare', () => view.time.compare(!view.comparing), '=', 'Compare two ranges');
    this.exportMenu = el('div', {class: 'menu'});
    const exports = el('details', {class: 'export'}, el('summary', {text: 'Export'}), this.exportMenu);
    exports.addEventListener('toggle', () => fillExports(this.exportMenu, view, () => view.save()));
    this.chartHost = el('div', {class: 'chart', tabindex: '0', role: 'img', 'data-keys': 'chart'});
    this.markHost = el('div', {class: 'marks', role: 'group', 'aria-label': 'Marks'});
    this.legendHost = el('div', {class: 'legend', role: 'group', 'aria-label': 'Pools'});
    this.heatHost = el('div', {class: 'heat'});
    this.view = view;
    this.heatTitle = el('h2', {});
    this.heatCaption = el('div', {class: 'bar caption'}, this.heatTitle);
    this.moreRows = button('', () => view.toggleRows());
    this.compareHost = el('section', {class: 'part', hidden: true, 'aria-label': 'Comparison'});
    this.threadHost = el('section', {class: 'part threads', 'aria-label': 'Threads'});
    this.jvmActions = el('div', {class: 'bar actions'},
      actionButton('Profile', () => view.profile(), 'm', 'Show where threads use CPU time, as a flame graph'),
      actionButton('Yields', () => view.actions.yields(), 'y', 'Count the calls of Thread.yield for 5 s'),
      actionButton('Record', () => view.actions.recordings(), 'r', 'Record; recordings and evidence'),
      actionButton('Report', () => view.actions.bundle(), 'B', 'Write a file for a colleague'),
      this.agentButton = actionButton('Load agent', () => view.head.agent(), 'A', 'Load the agent into the JVM, or remove it'),
      actionButton('Add mark', () => view.addMark(), 'k'));
    host.replaceChildren(
      el('div', {class: 'bar jvm-head'}, el('a', {href: '#/', class: 'back', text: '\u2190 All JVMs', 'aria-keyshortcuts': 'c'}), this.title, this.where, el('span', {class: 'grow'}), this.details, this.figures),
      this.findingHost, this.explanationHost,
      el('section', {class: 'part timeline', 'aria-label': 'CPU over time'},
        el('div', {class: 'bar ranges'}, el('div', {class: 'segments', role: 'group', 'aria-label': 'Range'}, ...this.presets),
          ...view.dimension.elements,
          actionButton('\u25c0', () => view.time.pan(-0.5), '{', 'Earlier'), actionButton('\u25b6', () => view.time.pan(0.5), '}', 'Later'),
          actionButton('Zoom out', () => view.time.zoom(2), 'o'), this.compareButton, exports,
          button('Flame graph', () => openRange(view), {hidden: !view.page.info?.profiles, title: 'Where the CPU time of this range went'}), this.rangeText),
        el('div', {class: 'two-columns'}, el('div', {class: 'chart-box'}, this.markHost, this.chartHost), this.legendHost),
        this.heatCaption, this.heatHost, el('div', {class: 'bar'}, this.moreRows)),
      this.compareHost, this.threadHost, this.jvmActions);
  }

  /** Names the parts after what they show. @param {string} by the type of accounts, or an empty string */
  name(by) {
    const {view} = this, what = by ? 'accounts' : 'threads';
    setText(this.heatTitle, `${by ? 'Accounts' : 'Threads'} over time`);
    setText(this.moreRows, `${view.rows > view.heatRows ? 'Fewer' : 'More'} ${what}`);
    this.legendHost.setAttribute('aria-label', by ? 'Accounts' : 'Pools');
    view.chart.what = by ? 'account' : 'pool';
    view.heatmap.what = what;
  }
}
