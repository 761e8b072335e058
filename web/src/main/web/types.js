// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/**
 * @typedef {{kind: string, text: string, advice?: string, meaning?: string, evidence?: string[], since?: number|null, tid?: number,
 *   thread?: string|null, pool?: string|null, threads?: string|null, needsDumps?: boolean}} Finding
 * @typedef {{version: string, host: string, processors: number, actions: boolean, profiles: boolean, now: number, started?: number,
 *   user?: string|null, webhooks?: string|null, columns: import('./columns.js').ColumnSpec[],
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
 * @typedef {{key: string, name: string, detail: string}} Highlight
 */

export {};
