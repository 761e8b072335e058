// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, getText, messageOf, profilePath, query} from './api.js';
import {openDialog} from './dialogs.js';
import {button, el, scrollBox, setText} from './dom.js';
import {bytes, isKnown, percent} from './format.js';
import {connectFrames} from './frames.js';

/** @typedef {import('./types.js').Profile} Profile */
/** @typedef {import('./types.js').RecordingFile} RecordingFile */

/** Evidence may be a dump of thousands of threads. */
const MAX_DUMP = 1_000_000;
const NO_SAMPLES = 'There are no samples: these threads used little or no CPU time.';

/** @param {RecordingFile} file */
export function downloadLink({name, bytes: size}) {
  return el('a', {href: 'api/recordings/' + encodeURIComponent(name), download: name, text: `${name} (${bytes(size)})`});
}

/** Links to evidence of a finding, and buttons that show what is in it. @param {RecordingFile} file */
export function evidenceLinks(file) {
  const problem = el('span', {class: 'bad', role: 'status'});
  /** @param {(name: string) => Promise<void>} show */
  const action = show => async () => {
    setText(problem, '');
    try {
      await show(file.name);
    } catch (e) {
      setText(problem, messageOf(e));
    }
  };
  return el('span', {class: 'kept-file'}, downloadLink(file),
    button('Flame graph', action(openProfile)), button('Thread dump', action(openDump)), problem);
}

/** @param {string} name of evidence */
async function openDump(name) {
  const text = await getText(profilePath(name, '/threads'));
  openDialog('Thread dump', el('p', {class: 'note', text: name}),
    el('pre', {class: 'stack', tabindex: '0', 'aria-label': 'Thread dump', text: text.slice(0, MAX_DUMP) || 'The evidence has no thread dump.'}));
}

/** @param {string} id */
export async function openProfile(id) {
  showProfile(await get(profilePath(id)));
}

/** Shows a profile as a flame graph and as a table, and how it differs from another one. @param {Profile} profile */
export function showProfile(profile) {
  const view = new ProfileView(profile);
  const dialog = openDialog(profile.name, ...view.elements);
  dialog.classList.add('wide');
  dialog.addEventListener('close', view.disconnect);
  view.show('');
}

/** Describes the CPU time, the source, and the samples. @param {Profile} profile */
function summaryOf({cpu, user, seconds, source, samples, threads}) {
  const time = isKnown(cpu) ? `CPU ${percent(cpu)} %, user ${percent(user)}, system ${percent(Math.max(0, Number(cpu) - Number(user)))}` : '';
  const period = isKnown(seconds) ? `in ${seconds} s` : '';
  return [[time, period].filter(Boolean).join(' '), source ? `source ${source}` : '', samples === null ? '' : `${samples.toLocaleString('en-US')} samples`, threads]
    .filter(Boolean).join('; ');
}

/** The content of the dialog. */
class ProfileView {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.frame = el('iframe', {class: 'flame', title: 'Flame graph', hidden: !profile.methods.length});
    this.search = el('input', {type: 'search', placeholder: 'Regular expression', 'aria-label': 'Search the flame graph', spellcheck: 'false', autocomplete: 'off'});
    this.search.addEventListener('input', () => this.find());
    this.other = el('select', {'aria-label': 'Compare with'}, el('option', {value: '', text: 'nothing'}));
    this.other.addEventListener('change', () => this.show(this.other.value));
    this.explanation = el('p', {class: 'note', role: 'status'});
    this.table = scrollBox('Methods');
    const notes = profile.notes.length ? el('ul', {class: 'notes note'}, ...profile.notes.map(text => el('li', {text}))) : '';
    this.elements = [
      el('p', {class: 'summary', text: summaryOf(profile)}), notes,
      el('div', {class: 'bar flame-bar'}, el('label', {}, 'Search ', this.search), el('label', {}, 'Compare with ', this.other),
        el('a', {href: profilePath(profile.id, '/collapsed'), download: '', text: 'Collapsed stacks'})),
      this.explanation, this.frame, el('h3', {text: 'Methods'}), this.table,
    ];
    this.disconnect = connectFrames([this.frame], frame => this.load(frame), () => this.search.focus());
    this.address = '';
    this.listOthers();
  }

  /** @param {HTMLIFrameElement} frame */
  load(frame) {
    // Without an entry in the history of the browser, whose back button leaves the view.
    if (frame.contentWindow) frame.contentWindow.location.replace(new URL(this.address, document.baseURI));
  }

  find() {
    let text = this.search.value;
    try {
      RegExp(text);
      this.search.setAttribute('aria-invalid', 'false');
    } catch {
      text = '';
      this.search.setAttribute('aria-invalid', 'true');
    }
    this.frame.contentWindow?.postMessage({search: text}, '*');
  }

  async listOthers() {
    try {
      const all = /** @type {import('./types.js').ProfileName[]} */ (await get('api/profiles'));
      this.other.append(...all.filter(({id}) => id !== this.profile.id).map(({id, name}) =>
        el('option', {value: id, text: id === name ? name : `${id}: ${name}`})));
    } catch (e) {
      setText(this.explanation, messageOf(e));
    }
  }

  /** @param {string} base the id of the other profile; empty for none */
  async show(base) {
    this.address = base ? query(profilePath(this.profile.id, '/flame'), {base}) : profilePath(this.profile.id, '/flame');
    if (this.profile.methods.length) this.load(this.frame);
    setText(this.explanation, this.profile.methods.length ? '' : NO_SAMPLES);
    if (!base) {
      this.fill(['SELF %', 'TOTAL %', 'METHOD'], this.profile.methods.map(({name, self, total}) => [percent(self), percent(total), name]));
      return;
    }
    try {
      const {methods} = await get(query(profilePath(this.profile.id, '/compare'), {base}));
      setText(this.explanation, 'A is the other profile, B this one. Compared are shares of the total of each. A frame is red if its own share'
        + ' is larger in B, blue if it is smaller, and yellow if A does not have it.');
      this.fill(['A SELF %', 'B SELF %', 'CHANGE', 'A TOTAL %', 'B TOTAL %', 'CHANGE', 'METHOD'],
        /** @type {import('./types.js').MethodChange[]} */ (methods).map(({name, selfA, selfB, totalA, totalB}) =>
          [percent(selfA), percent(selfB), change(selfA, selfB), percent(totalA), percent(totalB), change(totalA, totalB), name]));
    } catch (e) {
      setText(this.explanation, messageOf(e));
    }
  }

  /** @param {string[]} heads the last is of the name @param {string[][]} rows */
  fill(heads, rows) {
    const last = heads.length - 1;
    this.table.replaceChildren(el('table', {class: 'compare'},
      el('thead', {}, el('tr', {}, ...heads.map((text, i) => el('th', {scope: 'col', class: i < last ? 'number' : '', text})))),
      el('tbody', {}, ...rows.map(cells => el('tr', {}, ...cells.map((text, i) =>
        i < last ? el('td', {class: 'number', text}) : el('th', {scope: 'row', text})))))));
  }
}

/** @param {number} a @param {number} b */
function change(a, b) {
  return (b < a ? '\u2212' : '+') + percent(Math.abs(b - a));
}
