// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get, jvmPath, messageOf, query} from './api.js';
import {openDialog} from './dialogs.js';
import {el, scrollBox, setText} from './dom.js';
import {duration, percent, range} from './format.js';
import {connectFrames} from './frames.js';

/**
 * Shows where the CPU time of a range went, from continuous profiles: of the pool that is highlighted, or of all.
 * @param {import('./jvm.js').JvmView} view
 */
export async function openRange({id, data, chart, state}) {
  const pool = state.by ? undefined : data.series('').lines.get(chart.highlight)?.pool;
  const asked = {from: Math.floor(data.from), to: Math.ceil(data.to), ...pool === undefined ? {} : {pool}};
  const frame = el('iframe', {class: 'flame', title: 'Flame graph', hidden: true});
  const status = el('p', {class: 'note summary', role: 'status', text: 'Reading the profiles\u2026'});
  const table = scrollBox('Methods');
  const load = () => frame.contentWindow?.location.replace(new URL(query(jvmPath(id, '/flame'), asked), document.baseURI));
  const disconnect = connectFrames([frame], load);
  const dialog = openDialog(`Flame graph, ${range(data.from, data.to)}`, status, frame, table);
  dialog.classList.add('wide');
  dialog.addEventListener('close', disconnect);
  try {
    const {seconds, cpu, methods} = await get(query(jvmPath(id, '/methods'), asked));
    setText(status, `${pool === undefined ? 'All threads' : 'Pool ' + pool}: CPU ${percent(cpu)} % of one core in the ${duration(1_000 * seconds)} that were profiled`);
    frame.hidden = false;
    load();
    table.replaceChildren(el('table', {class: 'compare'},
      el('thead', {}, el('tr', {}, ...['SELF %', 'TOTAL %'].map(text => el('th', {scope: 'col', class: 'number', text})), el('th', {scope: 'col', text: 'METHOD'}))),
      el('tbody', {}, .../** @type {{method: string, self: number, total: number}[]} */ (methods).map(({method, self, total}) =>
        el('tr', {}, el('td', {class: 'number', text: percent(self)}), el('td', {class: 'number', text: percent(total)}), el('th', {scope: 'row', text: method}))))));
  } catch (e) {
    setText(status, messageOf(e));
    status.classList.add('bad');
  }
}
