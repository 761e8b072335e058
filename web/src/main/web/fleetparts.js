// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {button, el, scrollBox} from './dom.js';
import {changeOf, hostAddress, serviceAddress} from './fleetrows.js';
import {change, cores, moment} from './format.js';
import {presetFor} from './state.js';

/** @typedef {import('./types.js').FleetFinding} FleetFinding */
/** @typedef {import('./types.js').Version} Version */

const SHOWN_FINDINGS = 10;

/** The findings of a fleet, each with a link to its JVM. */
export class FleetFindings {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    this.all = false;
    this.shown = '';
  }

  /** @param {FleetFinding[]} findings @param {boolean} truncated @param {number} now */
  show(findings, truncated, now) {
    const key = JSON.stringify([findings, this.all]);
    if (key === this.shown) return;
    this.shown = key;
    const active = findings.filter(finding => finding.active).length, ended = findings.length - active;
    this.host.hidden = !findings.length;
    this.host.classList.toggle('alerts', active > 0);
    const count = `${active}${truncated ? ' or more' : ''} finding${active === 1 ? '' : 's'}`
      + (ended ? `, ${ended} ended` : '');
    const lines = this.all ? findings : findings.slice(0, SHOWN_FINDINGS);
    const more = findings.length - lines.length;
    this.host.replaceChildren(el('h2', {text: count}), ...lines.map(finding => this.line(finding, now)),
      more ? button(`${more} more`, () => {
        this.all = true;
        this.show(findings, truncated, now);
      }) : '');
  }

  /** @param {FleetFinding} finding @param {number} now */
  line({kind, since, active, labels, url}, now) {
    const href = hostAddress(url, labels, {begin: since, range: presetFor(since, now)});
    return el('a', {class: 'finding-line', href},
      el('b', {class: 'kind', text: kind}), el('span', {class: 'where', text: labels.service || '(no name)'}),
      el('span', {class: 'what', text: `${labels.instance || ''} ${labels.jvm || ''}`}),
      el('time', {text: `${active ? 'began' : 'ended, began'} at ${moment(since)}`}));
  }
}

/** The versions of one service with their CPU use, or those of all services that appeared in the range. */
export class Versions {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
  }

  /** @param {Version[]} versions @param {string} service */
  show(versions, service) {
    this.host.hidden = !versions.length;
    if (!versions.length) return;
    const heads = service ? ['VERSION', 'FIRST SEEN', 'LAST SEEN', 'JVMS', 'CORES PER JVM', 'BEFORE', 'AFTER', 'CHANGE']
      : ['VERSION', 'SERVICE', 'FIRST SEEN'];
    const rows = versions.map(version => service ? this.compared(version) : el('tr', {},
      el('th', {scope: 'row', text: version.version || '(no version)'}),
      el('td', {}, el('a', {href: serviceAddress(version.service), text: version.service || '(no name)'})),
      el('td', {text: moment(version.first)})));
    this.host.replaceChildren(
      el('h2', {text: service ? 'Versions in this range' : 'New versions in this range'}),
      scrollBox('Table of versions', el('table', {class: 'compare'},
        el('thead', {}, el('tr', {}, ...heads.map(head => el('th', {scope: 'col', text: head})))),
        el('tbody', {}, ...rows))),
      el('p', {class: 'note', hidden: !service, text: 'BEFORE and AFTER are the cores of the service in the last part '
        + '(1/24) of the range before the version appeared, and before the next one appeared or the range ended.'}));
  }

  /** @param {Version} version */
  compared({version, first, last, isNew, jvms, cpuPerJvm, before, after}) {
    const changed = isNew ? [cores(before), cores(after), change(changeOf(after, before))] : ['', '', ''];
    const figures = [cores(cpuPerJvm), ...changed];
    return el('tr', {}, el('th', {scope: 'row', text: version || '(no version)'}),
      el('td', {text: isNew ? moment(first) : `before ${moment(first)}`}),
      el('td', {text: last ? moment(last) : 'now'}),
      el('td', {class: 'number', text: jvms === null ? '-' : String(jvms)}),
      ...figures.map(text => el('td', {class: 'number', text})));
  }
}
