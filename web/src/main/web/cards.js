// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {button, el} from './dom.js';
import {shortCommand} from './format.js';

/** @typedef {import('./types.js').Jvm} Jvm */

const GROUPS = /** @type {const} */ ([['', 'None'], ['service', 'Service'], ['container', 'Container']]);
const ORDERS = /** @type {const} */ ([['start', 'Start'], ['cpu', 'CPU'], ['name', 'Name']]);
/** Cards that move every second cannot be read. */
const HOLD_MILLIS = 10_000;

/** @param {{service?: string|null, command?: string}} jvm */
export function nameOf(jvm) {
  const {service} = jvm;
  // The name of a class without its package.
  if (service && /^([a-z_][\w]*\.)+[A-Z][\w$]*$/.test(service)) return shortCommand(service);
  return service || shortCommand(jvm.command || '') || 'JVM';
}

/** Returns the mean of the last minute, so that a JVM that was busy a second ago keeps its place. @param {Jvm} jvm */
function recentCpu({sparkline, cpu}) {
  const known = sparkline.filter(value => typeof value === 'number');
  return known.length ? known.reduce((sum, value) => sum + Number(value), 0) / known.length : cpu || 0;
}

/** @param {Jvm} jvm @param {string} by */
function groupOf(jvm, by) {
  if (by === 'service') return nameOf(jvm);
  return jvm.podUid ? `pod ${jvm.podUid}` : jvm.containerId ? `container ${jvm.containerId.slice(0, 12)}` : 'no container';
}

/**
 * Which JVMs the overview shows, in which groups and order. Findings do not change the order, because a card that jumps cannot be
 * clicked.
 */
export class CardOrder {
  /** @param {{filter: string, group: string, order: string}} state @param {(changes: Record<string, string>) => void} change */
  constructor(state, change) {
    this.state = state;
    this.input = el('input', {type: 'search', placeholder: 'Filter: regular expression or pid  (/)', spellcheck: 'false', autocomplete: 'off',
      'aria-label': 'Filter JVMs by a regular expression on their name, command line, or container, or by a process id'});
    this.input.addEventListener('input', () => this.valid() && change({filter: this.input.value}));
    this.count = el('span', {class: 'note', role: 'status'});
    /** @param {'group'|'order'} name @param {readonly (readonly [string, string])[]} values */
    const buttons = (name, values) => values.map(([value, text]) => button(text, () => change({[name]: value}), {'data-value': value}));
    this.groups = el('div', {class: 'segments', role: 'group', 'aria-label': 'Group by'}, ...buttons('group', GROUPS));
    this.orders = el('div', {class: 'segments', role: 'group', 'aria-label': 'Order by'}, ...buttons('order', ORDERS));
    this.bar = el('div', {class: 'bar cards-bar'}, this.input, this.count, el('span', {class: 'grow'}),
      el('span', {class: 'note', text: 'Group by'}), this.groups, el('span', {class: 'note', text: 'Order by'}), this.orders);
    /** @type {Map<string, number>} */
    this.ranks = new Map();
    this.rankedAt = -Infinity;
    this.update(state);
  }

  /** @param {{filter: string, group: string, order: string}} state */
  update(state) {
    this.state = state;
    this.rankedAt = -Infinity;
    if (document.activeElement !== this.input) this.input.value = state.filter;
    this.valid();
    for (const [row, value] of /** @type {[HTMLElement, string][]} */ ([[this.groups, state.group], [this.orders, state.order]])) {
      for (const one of row.children) one.setAttribute('aria-pressed', String(one.getAttribute('data-value') === value));
    }
  }

  /** Reads the filter. @returns {boolean} whether it is a regular expression */
  valid() {
    try {
      this.filter = new RegExp(this.input.value, 'i');
    } catch {
      this.input.setAttribute('aria-invalid', 'true');
      this.input.title = 'This is not a valid regular expression, so it is not applied.';
      return false;
    }
    this.input.setAttribute('aria-invalid', 'false');
    this.input.title = '';
    return true;
  }

  /** @param {Jvm[]} jvms @param {boolean} hold whether to keep the order, because someone is about to click @returns {{name: string, jvms: Jvm[]}[]} */
  arrange(jvms, hold) {
    const {group, order} = this.state, {filter} = this;
    const shown = jvms.filter(jvm => !filter || String(jvm.pid) === this.input.value
      || filter.test(`${nameOf(jvm)}\n${jvm.service || ''}\n${jvm.command}\n${jvm.containerId || ''}\n${jvm.podUid || ''}`));
    this.count.textContent = shown.length < jvms.length ? `${shown.length} of ${jvms.length}` : `${jvms.length}`;
    this.rank(jvms, order, hold);
    const rank = (/** @type {Jvm} */ jvm) => this.ranks.get(jvm.id) ?? Infinity;
    shown.sort((a, b) => rank(a) - rank(b));
    /** @type {Map<string, Jvm[]>} */
    const groups = new Map();
    for (const jvm of shown) {
      const name = group ? groupOf(jvm, group) : '';
      groups.set(name, [...groups.get(name) || [], jvm]);
    }
    return [...groups].map(([name, members]) => ({name, jvms: members}));
  }

  /** @param {Jvm[]} jvms @param {string} order @param {boolean} hold */
  rank(jvms, order, hold) {
    const complete = jvms.every(({id}) => this.ranks.has(id));
    if (complete && this.rankedAt > -Infinity && (hold || performance.now() - this.rankedAt < HOLD_MILLIS)) return;
    this.rankedAt = performance.now();
    /** @type {(a: Jvm, b: Jvm) => number} */
    const byStart = (a, b) => a.started - b.started || a.pid - b.pid;
    /** @type {(a: Jvm, b: Jvm) => number} */
    const wanted = order === 'cpu' ? (a, b) => recentCpu(b) - recentCpu(a)
      : order === 'name' ? (a, b) => nameOf(a).localeCompare(nameOf(b), 'en', {numeric: true}) : () => 0;
    this.ranks = new Map([...jvms].sort((a, b) => wanted(a, b) || byStart(a, b)).map(({id}, i) => [id, i]));
  }
}
