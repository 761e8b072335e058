// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, jvmPath, messageOf, post} from './api.js';
import {openDialog} from './dialogs.js';
import {button, clean, el} from './dom.js';
import {downloadLink, evidenceLinks, showProfile} from './flame.js';
import {bytes, percent, rate} from './format.js';

/** @typedef {import('./columns.js').Row} Row */

const NOT_ALLOWED = 'Actions are off. Start the server with --allow-actions to allow them.';
const YIELD_SECONDS = 5;
const STACK_REFRESH = 2_000;

/** The actions of the page that affect a JVM. */
export class Actions {
  /** @param {string} jvm @param {boolean} allowed @param {(name: string, text: string) => void} report */
  constructor(jvm, allowed, report) {
    this.jvm = jvm;
    this.allowed = allowed;
    this.report = report;
  }

  /** Shows a thread's figures and its stack, which is read again every two seconds. @param {Row} row */
  stack(row) {
    const figures = el('p', {class: 'note', text: `tid ${row.tid || '-'}, pool ${row.pool}, ${row.kind.toLowerCase()}; CPU ${percent(row.cpu)} %, user ${percent(row.user)}, system ${percent(row.system)}`});
    const stack = el('pre', {class: 'stack', tabindex: '0', 'aria-label': 'Stack', text: this.allowed ? 'Reading the stack\u2026' : NOT_ALLOWED});
    const hold = el('input', {type: 'checkbox'});
    const bar = el('div', {class: 'bar'}, el('label', {}, hold, ' Hold this stack'));
    const dialog = openDialog(row.name, figures, stack);
    if (!this.allowed) return;
    if (!row.tid) {
      stack.textContent = 'A group has no stack. Open the pool, and choose a thread.';
      return;
    }
    dialog.append(bar);
    let changed = false;
    const read = async () => {
      if (!hold.checked) {
        try {
          const answer = await post(jvmPath(this.jvm, `/threads/${row.tid}/stack`));
          const lines = /** @type {unknown[]} */ (answer.lines || []).map(clean).join('\n') || 'The thread has no Java stack.';
          if (!hold.checked && stack.textContent !== lines) stack.textContent = lines;
          stack.classList.toggle('again', changed = !changed);
        } catch (e) {
          stack.textContent = clean(messageOf(e));
        }
      }
      if (dialog.open) setTimeout(read, STACK_REFRESH);
    };
    read();
  }

  /** Counts the calls of Thread.yield for five seconds. */
  async yields() {
    const status = el('p', {class: 'note', role: 'status', text: this.allowed ? `Counting calls of Thread.yield for ${YIELD_SECONDS} s\u2026` : NOT_ALLOWED});
    const dialog = openDialog('Calls of Thread.yield', status);
    if (!this.allowed) return;
    try {
      const answer = await post(jvmPath(this.jvm, '/yields'), {seconds: YIELD_SECONDS});
      /** @type {any[]} */
      const sites = answer.callSites || answer.yields || [];
      const platform = answer.platformPerSecond, virtual = answer.virtualPerSecond;
      status.textContent = sites.length
        ? `${rate(platform)} calls per second in platform threads, ${rate(virtual)} in virtual threads` : 'No thread called Thread.yield.';
      if (typeof platform !== 'number' && sites.length) status.textContent = `${sites.length} call sites`;
      dialog.append(...sites.slice(0, 20).map(site => {
        const stack = /** @type {unknown[]} */ (site.stack || site.callSites || []).map(clean);
        return el('details', {class: 'site', open: sites.length < 4}, el('summary', {}, el('b', {text: `${rate(site.perSecond ?? site.count)}${'perSecond' in site ? '/s' : ''}`}), ' ', clean(site.site || site.thread)),
          el('pre', {text: stack.join('\n')}));
      }));
    } catch (e) {
      status.textContent = clean(messageOf(e));
      status.className = 'bad';
    }
  }

  /** @param {boolean} attach */
  async agent(attach) {
    if (!this.allowed) return this.report('agent', NOT_ALLOWED);
    this.report('agent', attach ? 'Loading the agent\u2026' : 'Removing the agent\u2026');
    try {
      await post(jvmPath(this.jvm, attach ? '/attach' : '/detach'));
      this.report('agent', attach ? 'The agent is loaded.' : 'The agent is removed.');
    } catch (e) {
      this.report('agent', messageOf(e));
    }
    setTimeout(() => this.report('agent', ''), 6_000);
  }

  /** Starts recordings, and lists those that can be downloaded. */
  recordings() {
    const seconds = el('input', {type: 'number', min: '1', max: '86400', value: '60', 'aria-label': 'Seconds'});
    const problem = el('p', {class: 'bad', role: 'alert'}), list = el('ul', {class: 'recordings'});
    const form = el('form', {class: 'bar'}, el('label', {}, 'Record for ', seconds, ' seconds'), el('button', {type: 'submit', class: 'primary', text: 'Start'}));
    const dialog = openDialog('Recordings', this.allowed ? form : el('p', {class: 'note', text: NOT_ALLOWED}), problem, list);
    let shown = '';
    const show = async () => {
      try {
        const files = /** @type {import('./types.js').RecordingFile[]} */ (await get('api/recordings'));
        const text = JSON.stringify(files);
        // Otherwise, the focus would be lost.
        if (text !== shown) list.replaceChildren(...files.map(file => el('li', {}, fileLinks(file))));
        if (!files.length) list.replaceChildren(el('li', {class: 'note', text: 'There are no recordings.'}));
        shown = text;
      } catch (e) {
        problem.textContent = clean(messageOf(e));
      }
      if (dialog.open) setTimeout(show, 1_000);
    };
    form.addEventListener('submit', async event => {
      event.preventDefault();
      problem.textContent = '';
      try {
        await post(jvmPath(this.jvm, '/recordings'), {seconds: Number(seconds.value)});
      } catch (e) {
        problem.textContent = clean(messageOf(e));
      }
    });
    show();
  }

  /** Takes a profile. @param {Row|undefined} row that is selected in the table */
  profile(row) {
    const choices = profileChoices(row);
    const what = el('select', {'aria-label': 'Threads'}, ...choices.map(({text}, i) => el('option', {value: i, text})));
    const seconds = el('select', {'aria-label': 'Seconds'}, ...[5, 10].map(value => el('option', {value, text: `${value} s`})));
    const status = el('p', {class: 'note', role: 'status'});
    const start = el('button', {type: 'submit', class: 'primary', text: 'Start'});
    const form = el('form', {class: 'bar'}, el('label', {}, 'Profile ', what), el('label', {}, 'for ', seconds), start);
    const dialog = openDialog('Profile', this.allowed ? form : el('p', {class: 'note', text: NOT_ALLOWED}), status);
    what.focus();
    form.addEventListener('submit', async event => {
      event.preventDefault();
      const {text, body} = choices[Number(what.value)];
      status.className = 'note';
      status.textContent = clean(`Profiling ${text} for ${seconds.value} s\u2026`);
      start.disabled = true;
      try {
        const profile = await post(jvmPath(this.jvm, '/profiles'), {...body, seconds: Number(seconds.value)});
        if (dialog.open) showProfile(profile);
      } catch (e) {
        status.textContent = clean(messageOf(e));
        status.className = 'bad';
      }
      start.disabled = false;
    });
  }

  /** Writes a file for a colleague. */
  bundle() {
    const redact = el('input', {type: 'checkbox'}), status = el('p', {role: 'status'});
    const start = el('button', {type: 'submit', class: 'primary', text: 'Start'});
    const form = el('form', {class: 'bar'}, el('label', {}, redact, ' Replace the names of the program, its threads, and its accounts'), start);
    const dialog = openDialog('Report', el('p', {class: 'note', text: 'A file with all that a colleague needs: a recording of 10 s, a profile'
      + ' of 5 s, a thread dump, and the versions and settings of the JVM, the agent, and this machine.'}),
    this.allowed ? form : el('p', {class: 'note', text: NOT_ALLOWED}), status);
    /** @param {string} name */
    const wait = async name => {
      const files = /** @type {import('./types.js').RecordingFile[]} */ (await get('api/recordings'));
      const file = files.find(one => one.name === name);
      start.disabled = file?.running === true;
      status.replaceChildren(file ? fileLinks(file) : 'The file is gone.');
      if (dialog.open && file?.running) setTimeout(() => wait(name).catch(fail), 1_000);
    };
    /** @param {unknown} e */
    const fail = e => {
      status.replaceChildren(el('span', {class: 'bad', text: messageOf(e)}));
      start.disabled = false;
    };
    form.addEventListener('submit', async event => {
      event.preventDefault();
      start.disabled = true;
      try {
        await wait((await post(jvmPath(this.jvm, '/bundles'), {redact: redact.checked})).name);
      } catch (e) {
        fail(e);
      }
    });
  }

  /** Adds a mark, for example for a deployment. @param {number} time @param {() => void} done */
  mark(time, done) {
    const text = el('input', {type: 'text', maxlength: '200', required: true, 'aria-label': 'Text', placeholder: 'such as: deployed 4.2'});
    const problem = el('p', {class: 'bad', role: 'alert'});
    const form = el('form', {class: 'bar'}, text, el('button', {type: 'submit', class: 'primary', text: 'Add mark'}));
    const dialog = this.allowed ? openDialog('Add a mark', form, problem) : openDialog('Add a mark', el('p', {class: 'note', text: NOT_ALLOWED}));
    form.addEventListener('submit', async event => {
      event.preventDefault();
      try {
        await post('api/marks', {text: text.value, time: Math.round(time), jvm: this.jvm});
        dialog.close();
        done();
      } catch (e) {
        problem.textContent = clean(messageOf(e));
      }
    });
  }
}

/**
 * Returns what can be profiled, the selected row first.
 * @param {Row|undefined} row @returns {{text: string, body: Record<string, unknown>}[]}
 */
function profileChoices(row) {
  const all = {text: 'all threads', body: {}};
  if (!row) return [all];
  const kind = row.kind.toLowerCase();
  // Virtual threads are sampled on their carriers.
  if (kind === 'virtual' || kind === 'carrier' && row.group) return [{text: 'virtual threads', body: {carriers: true}}, all];
  const pool = {text: `pool ${row.pool}`, body: {pool: row.pool}};
  return row.group || !row.tid ? [pool, all] : [{text: `thread ${row.name}`, body: {tid: row.tid}}, pool, all];
}

/** @param {import('./types.js').RecordingFile} file */
function fileLinks(file) {
  if (file.running) return el('span', {text: `${file.name}, being written, ${bytes(file.bytes)}`});
  if (file.problem) return el('span', {class: 'bad', text: `${file.name}: ${file.problem}`});
  // Others are evidence of findings.
  if (!file.name.startsWith('taskclock-') && file.name.endsWith('.zip')) return evidenceLinks(file);
  return downloadLink(file);
}

/** @param {string} text @param {() => void} action @param {string} key @param {string} [help] */
export function actionButton(text, action, key, help = '') {
  return button(text, action, {title: `${help || text} (${key})`, 'aria-keyshortcuts': key});
}
