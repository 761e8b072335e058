// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {openDialog} from './dialogs.js';
import {el} from './dom.js';
import {JvmView} from './jvm.js';
import {PRESETS, navigate} from './state.js';
import {nextScheme} from './palette.js';

/** @typedef {import('./page.js').Page} Page */

const HELP = [
  ['Everywhere', [
    ['?, F1', 'this help'], ['c, q', 'all JVMs'], ['L', 'light, dark, or as the system'], ['O', 'open a recording or a profile (or drop it on the page)'],
    ['arrows, Enter', 'choose a JVM in the overview'], ['F2, D', 'findings: why, and what to do'], ['Alt \u2190, Alt \u2192', 'back and forward, also through zooms']]],
  ['Time', [
    ['drag', 'zoom to a range of the chart'], ['1 to 7', 'live, 15 min, 1 h, 6 h, 24 h, 7 d, 30 d'], ['[ ] { }', 'earlier, later, by a tenth or by half of the range'],
    ['o, z', 'zoom out, zoom in'], ['( )', 'previous, next finding'], ['=', 'compare two ranges'], ['p, Z', 'pause']]],
  ['Threads', [
    ['arrows, PgUp, PgDn, Home, End', 'select a row'], ['Enter', 'stack of the thread; open or close the pool'], ['/, F3, F4, \\', 'filter by a regular expression or a thread id'],
    ['t, F5', 'group by pool'], ['a', 'by account, such as a tenant; the next type'], ['+, -, *', 'open a pool, close it, open or close all'], ['P T N M S V X R', 'sort by CPU, time, id, waiting, system, voluntary, involuntary switches, rise'],
    ['< >, I', 'sort by the previous or next column; reverse'], ['C', 'columns'], ['i, K', 'hide idle threads; hide the JVM\u2019s own'], ['Space, U', 'tag a row; remove all tags'], ['Escape', 'remove the highlight']]],
  ['Actions', [
    ['m', 'profile the selected thread or pool, or all threads'], ['y', 'count the calls of Thread.yield'],
    ['r', 'record; recordings and evidence'], ['B', 'a file for a colleague'], ['A', 'load or remove the agent'], ['k', 'add a mark'], ['s', 'save an image']]],
];

export function openHelp() {
  openDialog('Keys', el('div', {class: 'help'}, ...HELP.map(([title, keys]) => el('section', {}, el('h3', {text: title}),
    el('dl', {}, ...(/** @type {string[][]} */ (keys)).flatMap(([key, text]) => [el('dt', {}, el('kbd', {text: key})), el('dd', {text})]))))));
}

/** @type {Record<string, (view: JvmView) => void>} */
const TABLE_KEYS = {
  ArrowUp: view => view.threads.table.move(-1), ArrowDown: view => view.threads.table.move(1),
  PageUp: view => view.threads.table.move(-view.threads.table.page()), PageDown: view => view.threads.table.move(view.threads.table.page()),
  Home: view => view.threads.table.move(0, true), End: view => view.threads.table.move(Number.MAX_SAFE_INTEGER, true),
  Enter: view => view.threads.enter(view.threads.table.selectedRow), ' ': view => view.threads.tag(), U: view => view.threads.untag(),
  '+': view => fold(view, true), '-': view => fold(view, false), '*': view => view.threads.foldAll(),
};

/** @type {Record<string, (view: JvmView) => void>} */
const VIEW_KEYS = {
  '/': view => focusFilter(view), F3: view => focusFilter(view), F4: view => focusFilter(view), '\\': view => focusFilter(view),
  t: view => view.dimension.group(Boolean(view.state.by) || !view.state.pools), F5: view => view.dimension.group(Boolean(view.state.by) || !view.state.pools),
  a: view => view.dimension.next(),
  P: view => view.threads.sort('cpu'), T: view => view.threads.sort('time'), N: view => view.threads.sort('tid'), M: view => view.threads.sort('wait'),
  S: view => view.threads.sort('system'), V: view => view.threads.sort('voluntary'), X: view => view.threads.sort('involuntary'),
  R: view => view.threads.sort('rise'), I: view => view.threads.reverse(), '<': view => view.threads.nextSort(-1), '>': view => view.threads.nextSort(1),
  C: view => view.threads.chooseColumns(), F6: view => view.threads.chooseColumns(), i: view => view.threads.setIdle(!view.threads.idle), K: view => view.threads.setOwn(!view.threads.jvm),
  '[': view => view.time.pan(-0.1), ']': view => view.time.pan(0.1), '{': view => view.time.pan(-0.5), '}': view => view.time.pan(0.5),
  o: view => view.time.zoom(2), z: view => view.time.zoom(0.5), '(': view => view.time.nextFinding(-1), ')': view => view.time.nextFinding(1),
  '=': view => view.time.compare(!view.comparing), p: view => view.pause(), Z: view => view.pause(),
  m: view => view.profile(), B: view => view.actions.bundle(), y: view => view.actions.yields(), r: view => view.actions.recordings(), A: view => view.head.agent(), k: view => view.addMark(), s: view => view.save(),
  F2: view => view.findings.toggle(), D: view => view.findings.toggle(), Escape: () => navigate({highlight: '', begin: 0, compare: ''}),
};

/** @param {JvmView} view */
function focusFilter(view) {
  view.threads.input.focus();
  view.threads.input.select();
}

/** @param {JvmView} view @param {boolean} open */
function fold(view, open) {
  const row = view.threads.table.selectedRow;
  if (row) view.threads.fold(row, open);
}

/** @param {KeyboardEvent} event @param {Page} page */
export function handleKey(event, page) {
  const target = /** @type {HTMLElement} */ (event.target);
  // A dialog that was just closed may still have the focus.
  const dialog = target.closest('dialog');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (dialog ? dialog.open : target.closest('input, textarea, select')) return;
  const {view} = page, {key} = event;
  const inControl = target.closest('button, a, summary') !== null;
  if (inControl && (key === 'Enter' || key === ' ')) return;
  if (key === '?' || key === 'F1') openHelp();
  else if (key === 'c' || key === 'q' || key === 'F10') location.hash = '#/';
  else if (key === 'L') nextScheme();
  else if (key === 'O') page.chooseFile();
  else if (!(view instanceof JvmView)) return view?.key(event);
  else if (/^[1-7]$/.test(key)) navigate({range: [...PRESETS.keys()][Number(key) - 1], from: 0, to: 0});
  else {
    const action = VIEW_KEYS[key] || TABLE_KEYS[key];
    if (!action) return;
    // If the page can be scrolled, these keys select rows only if the table or nothing has the focus.
    if (TABLE_KEYS[key] && target !== document.body && target.closest('.chart, details')) return;
    action(view);
  }
  event.preventDefault();
}
