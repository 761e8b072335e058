// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {get} from './api.js';
import {el, clean} from './dom.js';
import {evidenceLinks} from './flame.js';
import {moment} from './format.js';

/** @typedef {import('./types.js').Finding} Finding */

/** A finding this soon after the start of the server may have begun earlier. */
const FIRST_READINGS = 4_000;
const ABSENT = 5_500;
const EVIDENCE_REFRESH = 5_000;

/** Returns the subject of a finding for the URL: `tid:N`, `name:NAME`, `pool:NAME`, or an empty string. @param {Finding} finding */
export function highlightOf(finding) {
  if (finding.tid) return 'tid:' + finding.tid;
  if (finding.thread) return 'name:' + finding.thread;
  if (finding.pool) return 'pool:' + finding.pool;
  const quoted = /"(.+)"/.exec(finding.text);
  if (quoted) return (/\b(pool|account) "/.test(finding.text) ? 'pool:' : 'name:') + quoted[1];
  return finding.threads ? 'kind:' + finding.threads : '';
}

/** Returns the state of the view that highlights the subject of a finding. @param {Finding} finding */
export function subjectOf(finding) {
  const account = /\baccount "([^="]+)=(.+)"/.exec(finding.text);
  return account ? {by: account[1], highlight: `key:account ${account[2]}`} : {by: '', highlight: highlightOf(finding)};
}

/** Returns the kind of a finding, with a question mark if it is unconfirmed. @param {Finding} finding */
export function kindOf({kind, evidence}) {
  return evidence?.some(line => line.startsWith('not confirmed')) ? kind + '?' : kind;
}

/** Groups findings by what {@link kindOf} returns. @param {Finding[]} findings */
export function byKind(findings) {
  /** @type {Map<string, Finding[]>} */
  const groups = new Map();
  for (const finding of findings) groups.set(kindOf(finding), [...(groups.get(kindOf(finding)) || []), finding]);
  return [...groups.values()];
}

/**
 * Describes when a finding began. Findings in the first readings may have begun earlier, and so may those that only thread dumps show.
 * @param {{needsDumps?: boolean, since?: number|null}} finding @param {number} started when the server started
 */
export function beginOf({needsDumps, since}, started) {
  if (!since) return '';
  if (since < started + FIRST_READINGS) return `since ${moment(since)} or earlier`;
  return needsDumps ? `seen since ${moment(since)}` : `began at ${moment(since)}`;
}

/** Returns whether a row is highlighted. @param {string} highlight @param {{tid: number, name: string, pool: string, kind: string}} row */
export function matches(highlight, row) {
  const value = highlight.slice(highlight.indexOf(':') + 1);
  if (highlight.startsWith('tid:')) return String(row.tid) === value;
  if (highlight.startsWith('name:')) return row.name === value;
  if (highlight.startsWith('pool:')) return row.pool === value;
  return highlight.startsWith('kind:') && row.kind.toLowerCase() === value;
}

/** The findings of one JVM, each with what it means and what to do. */
export class Findings {
  /** @param {HTMLElement} host @param {number} started when the server started @param {(finding: Finding) => void} show @param {string} jvm its id */
  constructor(host, started, show, jvm) {
    this.jvm = jvm;
    this.started = started;
    this.host = host;
    this.showFinding = show;
    /** @type {Finding[]} */
    this.findings = [];
    this.shown = '';
    /** @type {Map<string, {finding: Finding, at: number}>} */
    this.seen = new Map();
  }

  /**
   * Shows the findings of an interval. One that is missing in a single interval has not ended.
   * @param {Finding[]} latest @param {number} now
   */
  show(latest, now) {
    /** @param {Finding} finding */
    const key = finding => `${finding.kind} ${highlightOf(finding)}`;
    for (const finding of latest) this.seen.set(key(finding), {finding, at: now});
    for (const [id, {at}] of this.seen) if (Math.abs(now - at) > ABSENT) this.seen.delete(id);
    this.findings = [...this.seen.values()].map(({finding}) => finding);
    const {findings} = this;
    const text = JSON.stringify(findings.map(finding => [kindOf(finding), finding.text, finding.since]));
    if (text === this.shown) return this.update();
    this.shown = text;
    this.host.hidden = !findings.length;
    const open = this.host.querySelector('details[open]')?.getAttribute('data-kind');
    this.host.replaceChildren(...findings.map(finding => {
      const details = el('details', {class: 'why', 'data-kind': finding.kind}, el('summary', {text: 'Why?'}), this.explanation(finding));
      if (open === clean(finding.kind)) details.open = true;
      details.addEventListener('toggle', () => this.linkEvidence(finding, details));
      return el('div', {class: 'finding-row'},
        el('button', {type: 'button', class: 'finding-line', onclick: () => this.showFinding(finding)},
          el('b', {class: 'kind', text: kindOf(finding)}), el('span', {class: 'what', text: finding.text}),
          finding.since ? el('time', {text: beginOf(finding, this.started)}) : null),
        details);
    }));
  }

  /** Evidence changes every second, so only its text is updated. */
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

  /** Adds links to what was kept when it began, which takes several seconds. @param {Finding} finding @param {HTMLDetailsElement} details */
  async linkEvidence(finding, details) {
    if (!details.open || !details.isConnected) return;
    try {
      const files = /** @type {import('./types.js').RecordingFile[]} */ (await get('api/recordings'));
      const kept = files.filter(({name}) => name.startsWith(this.jvm + '-') && name.endsWith(`-${finding.kind}.zip`));
      details.querySelector('.kept')?.remove();
      if (!kept.length) setTimeout(() => this.linkEvidence(finding, details), EVIDENCE_REFRESH);
      else details.append(el('div', {class: 'kept'}, el('b', {text: 'Evidence:'}), ...kept.map(file => evidenceLinks(file))));
    } catch {
      // The page says so if the server does not answer.
    }
  }

  /** Opens or closes all explanations. */
  toggle() {
    const all = [...this.host.querySelectorAll('details')], open = all.some(details => !details.open);
    for (const details of all) details.open = open;
    if (open) this.host.querySelector('summary')?.focus();
  }
}
