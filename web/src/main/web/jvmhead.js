// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, messageOf} from './api.js';
import {nameOf} from './cards.js';
import {confirmAction} from './dialogs.js';
import {el, setText} from './dom.js';
import {bytes, isKnown, moment, percent} from './format.js';

/** @typedef {import('./types.js').Jvm} Jvm */

const MONTH = 2_592_000_000;

/** The part of the view of a JVM about the JVM as a whole. */
export class JvmHead {
  /** @param {import('./jvm.js').JvmView} view */
  constructor(view) {
    this.view = view;
    this.id = view.id;
    this.ui = view.ui;
    this.page = view.page;
    /** @type {Jvm|null} */
    this.jvm = null;
  }

  async find() {
    try {
      let found = /** @type {Jvm|undefined} */ ((await get('api/jvms')).jvms.find((/** @type {Jvm} */ jvm) => jvm.id === this.id));
      if (!found) {
        const now = Math.ceil(this.page.now());
        found = (await get(`api/jvms?from=${now - MONTH}&to=${now + 60_000}`)).jvms.find((/** @type {Jvm} */ jvm) => jvm.id === this.id);
        if (found?.ended) this.view.data.end(found.ended);
      }
      if (found) this.identify(found);
      else this.opened();
    } catch (e) {
      this.page.problem('jvm', messageOf(e));
    }
  }

  /** @param {Jvm} jvm */
  identify(jvm) {
    this.jvm = jvm;
    setText(this.ui.title, nameOf(jvm));
    this.ui.title.title = jvm.command || '';
    document.title = `${nameOf(jvm)} \u2013 TaskClock`;
    setText(this.ui.where, `pid ${jvm.pid}${jvm.ended ? `, ended ${moment(jvm.ended)}` : `, started ${moment(jvm.started)}`}${placeOf(jvm)}`);
    setText(this.ui.agentButton, jvm.agent ? 'Remove agent' : 'Load agent');
    if (!this.view.data.interval) this.view.findings.show(jvm.findings || [], this.page.now());
  }

  /** The id belongs to a recording that was opened here. */
  opened() {
    const name = sessionStorage.getItem('taskclock-opened-' + this.id);
    if (!name) return this.page.problem('jvm', 'This JVM is not known: it has never run here, or its history has been deleted.');
    setText(this.ui.title, name);
    setText(this.ui.where, 'recording');
    document.title = `${name} \u2013 TaskClock`;
    this.view.data.closeStream();
    for (const action of this.ui.jvmActions.querySelectorAll('button')) action.hidden = true;
    for (const preset of this.ui.presets) preset.hidden = true;
  }

  /** @param {import('./types.js').Totals} totals */
  figures(totals) {
    const throttled = (totals.throttled || 0) >= 0.05 ? `  throttled ${percent(totals.throttled)}` : '';
    const container = isKnown(totals.container) && totals.limit ? `  container ${percent(totals.container)} of ${Math.round(totals.limit * 100)} %` : '';
    const heap = isKnown(totals.heapUsed) ? `  heap ${bytes(totals.heapUsed)} of ${bytes(totals.heapMax)}` : '';
    const machine = isKnown(totals.machine) ? `  machine ${percent(totals.machine)} of ${Math.round((totals.processors || 0) * 100)} %` : '';
    setText(this.ui.figures, `${percent(totals.cpu)} %  user ${percent(totals.user)}  system ${percent(totals.system)}`);
    const queued = isKnown(totals.virtualQueued) ? `, ${totals.virtualQueued} queued` : '';
    const virtual = isKnown(totals.virtualLive) ? `  ${totals.virtualLive} virtual threads: ${totals.virtualMounted} mounted${queued}` : '';
    setText(this.ui.details, `${container}${throttled}${heap}${virtual}${machine}`.trim());
  }

  /** @param {string[]} lines */
  explain(lines) {
    this.ui.explanationHost.hidden = !lines.length;
    this.ui.explanation.replaceChildren(...lines.map(text => el('li', {text})));
  }

  agent() {
    const attach = !this.jvm?.agent;
    confirmAction(attach ? 'Load the agent into this JVM? It shows virtual threads and named accounts, counts yields, and stays in the JVM until it is removed.'
      : 'Remove the agent from this JVM?', attach ? 'Load the agent' : 'Remove the agent', async () => {
      await this.view.actions.agent(attach);
      this.find();
    });
  }
}

/** Where a JVM runs. @param {Jvm} jvm */
function placeOf({kubernetes, containerId}) {
  if (kubernetes) return `, pod ${kubernetes.namespace}/${kubernetes.pod}${kubernetes.container ? `, container ${kubernetes.container}` : ''}`;
  return containerId ? `, container ${containerId.slice(0, 12)}` : '';
}
