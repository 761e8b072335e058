// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/**
 * @typedef {{kind: string, text: string, advice?: string, meaning?: string, evidence?: string[], since?: number|null, tid?: number,
 *   thread?: string|null, pool?: string|null, threads?: string|null, needsDumps?: boolean}} Finding
 * @typedef {{version: string, host: string, processors: number, actions: boolean, profiles: boolean, now: number, started?: number,
 *   user?: string|null, webhooks?: string|null, columns: import('./columns.js').ColumnSpec[],
 *   fleet?: {url: string, price: number|null, problem: string|null},
 *   history?: {since: number|null, bytes: number, problem: string|null, resolutions?: number[]}|null}} Info
 * @typedef {{id: string, pid: number, service: string|null, command: string, containerId: string|null, podUid: string|null,
 *   kubernetes?: {namespace: string|null, pod: string, container: string|null, owner: string|null}|null,
 *   started: number, ended: number|null, threads: number, cpu: number|null, user: number|null, system: number|null,
 *   throttled: number|null, sparkline: (number|null)[], findings: Finding[], agent: boolean, container?: number|null,
 *   limit?: number|null, accounts?: {type: string, name: string, cpu: number|null}[]}} Jvm
 * @typedef {{machine: {cpu: (number|null)[], processors: number}, jvms: Jvm[]}} Jvms
 * @typedef {{tid: number, name: string, pool: string, kind: string, cpu: number|null, user: number|null, system: number|null,
 *   wait?: number|null, voluntary?: number|null, involuntary?: number|null, state?: string|null, total?: number|null,
 *   watched?: number|null, allocation?: number|null, blocked?: number|null, waited?: number|null, truncated?: boolean,
 *   threads?: number, javaId?: number, virtual?: boolean, javaState?: string|null, blockedBy?: string|null,
 *   lockClass?: string|null, limit?: number|null}} ThreadRow
 * @typedef {{type: string, name: string, cpu: number|null, user: number|null, system: number|null, wait: number|null,
 *   sections?: number|null, p50?: number|null, p99?: number|null}} AccountRow
 * @typedef {{type: string, name: string, thread: string, tid: number, javaId: number, open: number, cpu: number|null}} Section
 * @typedef {Record<string, number|null>} Totals
 * @typedef {{end: number, intervalNanos: number, totals: Totals, threads: ThreadRow[], findings: Finding[], notes?: string[],
 *   source?: string, accounts?: AccountRow[], openSections?: Section[], explanation?: string[]}} Interval
 * @typedef {{time: number, jvm?: string|null, jvmId?: string|null, kind: string, text: string}} Mark
 * @typedef {(number|null)[]} Column
 * @typedef {{pool: string, kind: string, user: Column, system: Column}} PoolColumns
 * @typedef {{type: string, name: string, user: Column, system: Column}} AccountColumns
 * @typedef {{from: number, to: number, step: number, times: number[], pools: PoolColumns[], accounts?: AccountColumns[], process?: {user: Column, system: Column},
 *   throttled?: Column|null, marks?: Mark[]}} Pools
 * @typedef {{tid: number, name: string, pool: string, kind: string, cpu: Column, system: Column}} ThreadColumns
 * @typedef {{from: number, to: number, step: number, times: number[], threads: ThreadColumns[]}} Threads
 * @typedef {{name: string, bytes: number, running: boolean, problem: string|null}} RecordingFile
 * @typedef {{id: string, name: string}} ProfileName
 * @typedef {{id: string, name: string, time: number|null, threads: string|null, source: string|null, seconds: number|null,
 *   cpu: number|null, user: number|null, samples: number|null, notes: string[],
 *   methods: {name: string, self: number, total: number}[]}} Profile
 * @typedef {{name: string, selfA: number, selfB: number, totalA: number, totalB: number}} MethodChange
 * @typedef {Record<string, string>} Labels of Prometheus
 * @typedef {{name: string, labels: Labels, cpu: number|null, weekEarlier: number|null, hours: number|null, jvms: number|null,
 *   outliers: number|null, findings: number|null, outlier: boolean, url: string|null}} UsageRow
 * @typedef {{cpu: number|null, weekEarlier: number|null, hours: number|null, hoursWeekEarlier: number|null}} UsageTotal
 * @typedef {{from: number, to: number, step: number, by: string, total: UsageTotal, rows: UsageRow[], truncated: boolean,
 *   warnings: string[]}} Usage
 * @typedef {{from: number, to: number, step: number, times: number[], lines: {name: string, labels: Labels, cpu: Column}[],
 *   others: Column, weekEarlier: Column, warnings: string[]}} FleetSeries
 * @typedef {{kind: string, since: number, active: boolean, labels: Labels, url: string|null}} FleetFinding
 * @typedef {{service: string, version: string, first: number, last: number|null, isNew: boolean, jvms: number|null,
 *   cpuPerJvm: number|null, before: number|null, after: number|null}} Version
 * @typedef {{key: string, name: string, detail: string}} Highlight
 */

export {};
