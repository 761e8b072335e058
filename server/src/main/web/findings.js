// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {el, clean} from './dom.js';
import {moment} from './format.js';

/** @typedef {import('./types.js').Finding} Finding */

/** Returns what a finding is about, for the address: `tid:N`, `name:NAME`, `pool:NAME`, or nothing. @param {Finding} finding */
export function highlightOf(finding) {
  if (finding.tid) return 'tid:' + finding.tid;
  if (finding.thread) return 'name:' + finding.thread;
  if (finding.pool) return 'pool:' + finding.pool;
  const quoted = /"(.+)"/.exec(finding.text);
  if (quoted) return (/\bpool "/.test(finding.text) ? 'pool:' : 'name:') + quoted[1];
  return ['gc', 'jit'].includes(finding.kind) ? 'kind:' + finding.kind : '';
}

/** Returns whether a row is what is highlighted. @param {string} highlight @param {{tid: number, name: string, pool: string, kind: string}} row */
export function matches(highlight, row) {
  const value = highlight.slice(highlight.indexOf(':') + 1);
  if (highlight.startsWith('tid:')) return String(row.tid) === value;
  if (highlight.startsWith('name:')) return row.name === value;
  if (highlight.startsWith('pool:')) return row.pool === value;
  return highlight.startsWith('kind:') && row.kind.toLowerCase() === value;
}

/** The findings of one JVM, each with what it means and what to do. */
export class Findings {
  /** @param {HTMLElement} host @param {(finding: Finding) => void} show */
  constructor(host, show) {
    this.host = host;
    this.showFinding = show;
    /** @type {Finding[]} */
    this.findings = [];
    this.shown = '';
  }

  /** @param {Finding[]} findings */
  show(findings) {
    this.findings = findings;
    const text = JSON.stringify(findings.map(({kind, text, since}) => [kind, text, since]));
    if (text === this.shown) return this.update();
    this.shown = text;
    this.host.hidden = !findings.length;
    const open = this.host.querySelector('details[open]')?.getAttribute('data-kind');
    this.host.replaceChildren(...findings.map(finding => {
      const details = el('details', {class: 'why', 'data-kind': finding.kind}, el('summary', {text: 'Why?'}), this.explanation(finding));
      if (open === clean(finding.kind)) details.open = true;
      return el('div', {class: 'finding-row'},
        el('button', {type: 'button', class: 'finding-line', onclick: () => this.showFinding(finding)},
          el('b', {class: 'kind', text: finding.kind}), el('span', {class: 'what', text: finding.text}),
          finding.since ? el('time', {text: `since ${moment(finding.since)}`}) : null),
        details);
    }));
  }

  /** Evidence changes every second, so only its text does. */
  update() {
    this.findings.forEach((finding, i) => {
      const list = this.host.children[i]?.querySelector('.evidence');
      const text = (finding.evidence || []).join('\n');
      if (list instanceof HTMLElement && list.textContent !== clean(text)) list.textContent = clean(text);
    });
  }

  /** @param {Finding} finding */
  explanation(finding) {
    return el('div', {class: 'explanation'},
      el('p', {class: 'evidence', text: (finding.evidence || []).join('\n')}),
      finding.meaning ? el('p', {text: finding.meaning}) : null,
      finding.advice ? el('p', {class: 'advice'}, el('b', {text: 'What to do: '}), finding.advice) : null);
  }

  /** Opens or closes all explanations. */
  toggle() {
    const all = [...this.host.querySelectorAll('details')], open = all.some(details => !details.open);
    for (const details of all) details.open = open;
    if (open) this.host.querySelector('summary')?.focus();
  }
}
