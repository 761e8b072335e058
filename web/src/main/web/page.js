// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {ApiError, get, messageOf, onUnauthorized, post, query, send} from './api.js';
import {setColumns} from './columns.js';
import {login, openDialog} from './dialogs.js';
import {byId, clean, el, setText} from './dom.js';
import {bytes, clock, moment} from './format.js';
import {showProfile} from './flame.js';
import {FleetView} from './fleet.js';
import {openHelp, handleKey} from './keys.js';
import {JvmView} from './jvm.js';
import {Overview} from './overview.js';
import {nextScheme, onScheme, schemeName} from './palette.js';
import {addressOf, openJvm, readState} from './state.js';
import {now, setNow} from './time.js';

const INFO_REFRESH = 15_000;
const DAY = 86_400_000;
const MAX_NAME = 200;
const MAX_FILE = 256 * 1024 * 1024;

/** The frame around the views: the state of the server, problems, and dropped files. */
export class Page {
  constructor() {
    /** @type {import('./types.js').Info|null} */
    this.info = null;
    /** @type {Overview|JvmView|FleetView|null} */
    this.view = null;
    this.viewKey = '';
    this.host = byId('view');
    this.problems = byId('problems');
    onUnauthorized(() => login(() => this.restart()));
  }

  async start() {
    const scheme = byId('scheme');
    const showScheme = () => setText(scheme, `Scheme: ${schemeName()}`);
    scheme.addEventListener('click', nextScheme);
    onScheme(showScheme);
    showScheme();
    byId('help').addEventListener('click', openHelp);
    byId('share').addEventListener('click', () => this.share());
    byId('logout').addEventListener('click', async () => {
      try {
        await post('api/logout');
        location.reload();
      } catch (e) {
        this.problem('server', messageOf(e));
      }
    });
    addEventListener('hashchange', () => this.route());
    addEventListener('keydown', event => handleKey(event, this));
    this.acceptFiles();
    setInterval(() => this.loadInfo(), INFO_REFRESH);
    await this.loadInfo();
    this.route();
  }

  async restart() {
    this.view?.close();
    this.view = null;
    this.viewKey = '';
    await this.loadInfo();
    this.route();
  }

  /** @returns {Promise<boolean>} whether the server answers */
  async loadInfo() {
    try {
      const before = performance.now(), info = /** @type {import('./types.js').Info} */ (await get('api/info'));
      // Before other text, which may contain times.
      setNow(info.now + (performance.now() - before) / 2);
      if (info.columns) setColumns(info.columns);
      this.info = info;
      setText(byId('host'), info.host);
      byId('logout').hidden = !info.user;
      byId('logout').title = info.user || '';
      const {history} = info;
      setText(byId('about'), `TaskClock ${info.version}${history?.since ? `; history since ${moment(history.since)}, ${bytes(history.bytes)}B` : ''}`);
      this.problem('history', history?.problem ? `The history has a problem: ${history.problem} Live figures are not affected.` : '');
      this.problem('webhooks', info.webhooks || '');
      return true;
    } catch (e) {
      if (e instanceof ApiError && e.status !== 401 && !this.info) this.problem('server', e.message);
      return false;
    }
  }

  /** Returns the server's time. */
  now() {
    return now();
  }

  async checkServer() {
    const answers = await this.loadInfo();
    if (answers) this.problem('server', '');
    return answers;
  }

  route() {
    const state = readState(), key = `${state.view} ${state.jvm}`;
    if (!this.info) return;
    if (/^\d+$/.test(state.jvm)) {
      this.findProcess(state);
      return;
    }
    if (key === this.viewKey) {
      if (this.view && 'update' in this.view) this.view.update(state);
      return;
    }
    this.view?.close();
    this.connected(null);
    this.viewKey = key;
    this.view = this.info.fleet ? new FleetView(this.host, this)
      : state.view === 'jvm' ? new JvmView(this.host, this, state.jvm) : new Overview(this.host, this);
    scrollTo(0, 0);
  }

  /** Opens a JVM by its process id, which other programs know. @param {import('./state.js').State} state */
  async findProcess(state) {
    try {
      const now = Math.round(this.now());
      const {jvms} = /** @type {import('./types.js').Jvms} */ (await get(query('api/jvms', {from: now - DAY, to: now})));
      const [found] = jvms.filter(jvm => String(jvm.pid) === state.jvm)
        .sort((a, b) => Number(b.ended === null) - Number(a.ended === null) || b.started - a.started);
      this.problem('process', found ? '' : `No JVM with the process id ${state.jvm} ran on this host in the last 24 hours.`);
      location.replace(addressOf(found ? {...state, jvm: found.id} : {...state, view: 'overview'}));
    } catch (e) {
      this.problem('process', messageOf(e));
    }
  }

  /** Shows or removes a line above the view. @param {string} name @param {string} text */
  problem(name, text) {
    let line = /** @type {HTMLElement|null} */ ([...this.problems.children].find(child => child.getAttribute('data-name') === name) || null);
    if (!text) return line?.remove();
    if (!line) {
      line = el('p', {'data-name': name, role: 'status'});
      this.problems.append(line);
    }
    setText(line, text);
  }

  /** @param {number|null} since when the connection was lost; null if there is one */
  connected(since) {
    this.problem('connection', since === null ? '' : `Disconnected since ${clock(since)}. The page reconnects by itself; the history fills the gap.`);
    document.body.classList.toggle('disconnected', since !== null);
    if (since === null) this.problem('server', '');
  }

  /** @param {string[]} notes */
  notes(notes) {
    setText(byId('notes'), notes.join('\n'));
  }

  async share() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.problem('share', 'The address of this view has been copied.');
    } catch {
      this.problem('share', 'The address of this page shows the same view to others: ' + location.href);
    }
    setTimeout(() => this.problem('share', ''), 5_000);
  }

  /** Opens recordings and profiles that are dropped on the page. */
  acceptFiles() {
    const target = byId('drop');
    let depth = 0;
    /** @param {DragEvent} event */
    const isFile = event => event.dataTransfer?.types.includes('Files');
    addEventListener('dragenter', event => {
      if (!isFile(event)) return;
      depth++;
      target.hidden = false;
      event.preventDefault();
    });
    addEventListener('dragleave', () => {
      if (--depth <= 0) target.hidden = true;
    });
    addEventListener('dragover', event => isFile(event) && event.preventDefault());
    addEventListener('drop', event => {
      depth = 0;
      target.hidden = true;
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.openFile(file);
    });
  }

  /** @param {File} file */
  async openFile(file) {
    if (file.size > MAX_FILE) return this.problem('file', `${file.name} is larger than 256 MB. taskclock replay FILE opens larger recordings.`);
    this.problem('file', `Opening ${file.name}\u2026`);
    try {
      const path = query('api/opened', {name: file.name.slice(0, MAX_NAME)});
      const opened = await send(path, 'application/octet-stream', file);
      if (opened.methods) {
        this.problem('file', '');
        showProfile(opened);
        return;
      }
      sessionStorage.setItem('taskclock-opened-' + opened.id, clean(file.name));
      this.problem('file', '');
      openJvm(opened.id, {range: 'fixed', from: Math.floor(opened.from), to: Math.ceil(opened.to)});
    } catch (e) {
      this.problem('file', `${file.name}: ${messageOf(e)}`);
    }
  }

  /** Asks for a file, for users who cannot drop one. */
  chooseFile() {
    const input = el('input', {type: 'file', 'aria-label': 'File'});
    const dialog = openDialog('Open a file', el('p', {class: 'note', text: 'Choose a file that taskclock record has written, a JFR'
      + ' recording, or collapsed stacks, or drop one on the page.'}), input);
    input.addEventListener('change', () => {
      dialog.close();
      if (input.files?.[0]) this.openFile(input.files[0]);
    });
  }
}
