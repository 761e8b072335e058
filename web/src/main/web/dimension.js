// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {openDialog} from './dialogs.js';
import {button, el} from './dom.js';
import {navigate} from './state.js';

const HINT = 'A program counts CPU time for tenants, endpoints, or others with CpuAccounts.type("tenant").of(name).enter().';

/** The choice of what the chart, the heatmap, and the table show: threads, pools, or the accounts of a type. */
export class Dimension {
  /** @param {import('./jvm.js').JvmView} view */
  constructor(view) {
    this.view = view;
    /** @type {string[]} */
    this.types = [];
    this.threads = button('Threads', () => this.group(false), {title: 'Threads (t)'});
    this.pools = button('Pools', () => this.group(true), {title: 'Threads by pool (t)', 'aria-keyshortcuts': 't'});
    this.accounts = button('Accounts', () => this.next(), {'aria-keyshortcuts': 'a'});
    this.choice = el('select', {'aria-label': 'Type of accounts', hidden: true, onchange: () => navigate({by: this.choice.value})});
    this.elements = [
      el('div', {class: 'segments', role: 'group', 'aria-label': 'Rows'}, this.threads, this.pools, this.accounts), this.choice];
  }

  /** Whether pools are grouped is a property of the table only, so it is not a step of the browser's history. @param {boolean} pools */
  group(pools) {
    if (this.view.state.by) navigate({by: '', pools});
    else this.view.threads.setPools(pools);
    this.show();
  }

  /** Why there are no accounts, and how to get them. */
  hint() {
    const {data, page} = this.view;
    if (data.interval?.source === 'agent') return `This program has no named accounts yet. ${HINT}`;
    const load = page.info?.actions ? 'with "Load agent"' : `with taskclock attach ${this.view.head.jvm?.pid ?? 'PID'}`;
    return `Named accounts need the agent. Load it ${load}. ${HINT}`;
  }

  /** Shows the accounts of the first type, or of the next one. */
  next() {
    const {types} = this, {by} = this.view.state;
    if (!types.length) openDialog('Accounts', el('p', {text: this.hint()}));
    else navigate({by: types[(types.indexOf(by) + 1) % types.length]});
  }

  show() {
    const {state, data} = this.view;
    this.types = data.accountTypes();
    const none = !this.types.length;
    this.threads.setAttribute('aria-pressed', String(!state.by && !state.pools));
    this.pools.setAttribute('aria-pressed', String(!state.by && state.pools));
    this.accounts.setAttribute('aria-pressed', String(state.by !== ''));
    this.accounts.setAttribute('aria-disabled', String(none));
    this.accounts.title = none ? this.hint() : 'CPU time by account; again for the next type (a)';
    const shown = [...new Set([...this.types, ...state.by ? [state.by] : []])];
    this.choice.hidden = !state.by || shown.length < 2;
    if (shown.join('\n') !== [...this.choice.options].map(option => option.value).join('\n')) {
      this.choice.replaceChildren(...shown.map(type => el('option', {value: type, text: type})));
    }
    this.choice.value = state.by;
  }
}
