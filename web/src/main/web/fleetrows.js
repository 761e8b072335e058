// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {isKnown} from './format.js';
import {addressOf, jvmAddress, readState} from './state.js';

/** @typedef {import('./types.js').UsageRow} UsageRow */
/** @typedef {import('./columns.js').ColumnSpec} ColumnSpec */

/** The dimensions of a fleet. JVMs are shown only of one service, and there services are not shown. */
export const DIMENSIONS = /** @type {[string, string][]} */ ([
  ['service', 'Services'], ['jvm', 'JVMs'], ['version', 'Versions'], ['host', 'Hosts'], ['pool', 'Pools'],
  ['account', 'Accounts']]);

/** @type {Record<string, string[]>} the columns that only these dimensions have */
const ONLY = {
  service: ['service'], version: ['jvm'], pid: ['jvm'], kind: ['pool'], type: ['account'],
  jvms: ['service', 'version', 'host'], outliers: ['service'], findings: ['service', 'host', 'jvm'],
};

/** @param {string} id @param {string} title @param {string} unit @param {number} width @param {string} help */
function column(id, title, unit, width, help) {
  const spec = {id, title, unit, width, help, member: null, rank: 0, threads: true, accounts: true, needsDumps: false};
  return /** @type {ColumnSpec} */ (spec);
}

/** The columns of a fleet, in the order of their places. The rank is the order in which narrow windows show them. */
export const FLEET_COLUMNS = [
  column('name', 'NAME', 'text', 20, 'Name'),
  column('service', 'SERVICE', 'text', 20, 'The service of this version'),
  column('version', 'VERSION', 'text', 14, 'Version of the service'),
  column('pid', 'PID', 'text', 8, 'Process id'),
  column('kind', 'KIND', 'text', 8, 'Kind of threads'),
  column('type', 'TYPE', 'text', 12, 'Type of account'),
  column('cpu', 'CPU', 'cores', 8, 'Cores in use at the end of the range, mean of 5 minutes'),
  column('weekEarlier', 'WEEK AGO', 'cores', 10, 'Cores in use a week earlier, on the same weekday at the same time'),
  column('change', 'CHANGE', 'change', 10, 'Against a week earlier'),
  column('hours', 'CPU HOURS', 'hours', 11, 'CPU time in this range, in hours of one core'),
  column('cost', 'COST', 'money', 10, 'CPU hours at the price of --price'),
  column('jvms', 'JVMS', 'count', 7, 'Number of JVMs'),
  column('outliers', 'OUTLIERS', 'count', 9, 'JVMs that use more than twice the median of their service'),
  column('findings', 'FINDINGS', 'count', 9, 'Findings that exist now'),
];
const ORDER = ['name', 'cpu', 'change', 'findings', 'outliers', 'weekEarlier', 'service', 'version', 'type', 'jvms',
  'hours', 'cost', 'kind', 'pid'];
for (const spec of FLEET_COLUMNS) spec.rank = ORDER.indexOf(spec.id);

/**
 * Returns the columns of a dimension.
 * @param {string} by @param {boolean} alone of one service @param {boolean} priced
 */
export function columnsOf(by, alone, priced) {
  return FLEET_COLUMNS.filter(({id}) => {
    if (id === 'cost') return priced;
    if (id === 'service') return by === 'version' && !alone;
    if (id === 'jvms' && by === 'host') return !alone;
    return !ONLY[id] || ONLY[id].includes(by);
  });
}

/** Returns a name for people. @param {string} by @param {{name: string, labels: import('./types.js').Labels}} row */
export function displayName(by, {name, labels}) {
  if (by === 'jvm') return `${labels.instance || ''} ${name}`;
  return name || (by === 'version' ? '(no version)' : '(no name)');
}

/**
 * Returns the name of a line of the chart, which must differ from the others.
 * @param {string} by @param {{name: string, labels: import('./types.js').Labels}} row
 */
export function lineName(by, row) {
  const {labels} = row;
  return by === 'version' && labels.service ? `${labels.service} ${displayName(by, row)}` : displayName(by, row);
}

/** @param {number|null} now @param {number|null} before in percent */
export function changeOf(now, before) {
  return isKnown(now) && Number(before) > 0 ? (Number(now) - Number(before)) / Number(before) * 100 : null;
}

/**
 * Returns the address of a JVM on the page of its host, or undefined if there is none.
 * @param {string|null} url @param {import('./types.js').Labels} labels
 * @param {Partial<import('./state.js').State>} [changes]
 */
export function hostAddress(url, labels, changes = {}) {
  // The server has checked it.
  if (!url || !/^https?:\/\//.test(url)) return undefined;
  // The label jvm ends with the process id.
  const pid = labels.pid || /-(\d+)$/.exec(labels.jvm || '')?.[1];
  return url + (pid ? jvmAddress(pid, changes) : '#/');
}

/** @param {string} service */
export function serviceAddress(service) {
  return addressOf({...readState(), view: 'overview', service, by: '', filter: '', sort: 'cpu', reverse: false});
}

/** Returns where a click on a row leads. @param {string} by @param {UsageRow} row */
function hrefOf(by, {name, labels, url}) {
  const {range, from, to, service} = readState();
  if (by === 'service') return serviceAddress(name);
  if (by === 'version' && !service) return serviceAddress(labels.service || '');
  if (by === 'jvm') return hostAddress(url, labels, range === 'fixed' ? {range, from, to} : {});
  return by === 'host' ? hostAddress(url, {}) : undefined;
}

/** Returns a row for the table. @param {string} by @param {UsageRow} row @param {number|null} price */
export function tableRow(by, row, price) {
  const {labels} = row, name = displayName(by, row), pool = lineName(by, row);
  const kind = labels.taskclock_pool_kind || '', type = labels.taskclock_account_type || '';
  return {
    ...row, key: JSON.stringify([row.name, labels.service, labels.instance, kind, type]), name, pool, kind, type,
    tid: 0, user: null, system: null, service: labels.service, version: labels.service_version, pid: labels.pid,
    change: changeOf(row.cpu, row.weekEarlier), href: hrefOf(by, row),
    cost: isKnown(row.hours) && price !== null ? Number(row.hours) * price : null,
  };
}
