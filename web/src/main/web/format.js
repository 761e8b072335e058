// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {now} from './time.js';

const DAY = 86_400_000;

/** @param {number|null|undefined} value */
export function isKnown(value) {
  return typeof value === 'number' && isFinite(value) && value >= 0;
}

/** Formats percent of one core. @param {number|null|undefined} value */
export function percent(value) {
  if (!isKnown(value)) return '-';
  const number = Number(value);
  return number >= 1000 ? Math.round(number).toLocaleString('en') : number.toFixed(1);
}

/** Formats percent of one core as a number of cores. @param {number|null|undefined} value */
export function cores(value) {
  if (!isKnown(value)) return '-';
  const number = Number(value) / 100;
  const digits = number < 9.995 ? 2 : number < 999.5 ? 1 : 0;
  return number.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

/** Formats a change in percent, with its sign. @param {number|null|undefined} value */
export function change(value) {
  if (typeof value !== 'number' || !isFinite(value)) return '-';
  return (value < 0 ? '\u2212' : '+') + percent(Math.abs(value)) + ' %';
}

/** @param {number|null|undefined} value */
export function rate(value) {
  if (!isKnown(value)) return '-';
  const number = Number(value);
  return number >= 10_000 ? Math.round(number / 1000) + 'k' : number >= 100 ? String(Math.round(number)) : number.toFixed(1);
}

/** Formats bytes in units of 1024. @param {number|null|undefined} value */
export function bytes(value) {
  if (!isKnown(value)) return '-';
  let number = Number(value), unit = 0;
  while (number >= 1024 && unit < 4) {
    number /= 1024;
    unit++;
  }
  return (unit && number < 100 ? number.toFixed(1) : Math.round(number)) + ['', 'K', 'M', 'G', 'T'][unit];
}

/** Formats CPU time in seconds. @param {number|null|undefined} value */
export function seconds(value) {
  if (!isKnown(value)) return '-';
  const number = Number(value);
  if (number < 1000) return number.toFixed(1);
  const minutes = Math.floor(number / 60);
  return minutes < 1000 ? `${minutes}m${String(Math.floor(number % 60)).padStart(2, '0')}` : `${Math.floor(minutes / 60)}h`;
}

/** Formats a short CPU time, given in seconds. @param {number|null|undefined} value */
export function cpuTime(value) {
  if (!isKnown(value)) return '-';
  const number = Number(value);
  if (number < 999.5e-6) return `${Math.round(number * 1e6)} us`;
  return number < 0.99995 ? `${(number * 1e3).toFixed(1)} ms` : `${number.toFixed(1)} s`;
}

/** The time zone of all times, if it is not that of the browser. @type {Intl.DateTimeFormat|null} */
let zone = null;

/** Shows times in a zone, or in UTC if the browser does not know it. @param {string} name @returns {string} the zone */
export function setZone(name) {
  /** @param {string} timeZone */
  const format = timeZone => new Intl.DateTimeFormat('en', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
    second: '2-digit'});
  try {
    zone = format(name);
    return name;
  } catch {
    zone = format('UTC');
    return 'UTC';
  }
}

/** Returns a date whose local time is the time to show. @param {number} millis */
export function zoned(millis) {
  if (!zone) return new Date(millis);
  const {year, month, day: date, hour, minute, second} = Object.fromEntries(
    zone.formatToParts(millis).map(({type, value}) => [type, Number(value)]));
  return new Date(year, month - 1, date, hour, minute, second, millis % 1000);
}

/** @param {number} n */
const two = n => String(n).padStart(2, '0');

/** @param {number} millis */
export function clock(millis) {
  const date = zoned(millis);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** @param {number} millis */
export function day(millis) {
  const date = zoned(millis);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Formats a time, with the date if it is not today. @param {number} millis */
export function moment(millis) {
  return day(millis) === day(now()) ? clock(millis) : `${day(millis)} ${clock(millis)}`;
}

/** @param {number} from @param {number} to */
export function range(from, to) {
  return day(from) === day(to) ? `${moment(from)} to ${clock(to)}` : `${day(from)} ${clock(from)} to ${day(to)} ${clock(to)}`;
}

/** @param {number} millis */
export function duration(millis) {
  const total = Math.max(0, Math.round(millis / 1000));
  if (millis > 0 && millis < 1000) return `${Math.round(millis)} ms`;
  if (total < 120) return `${total} s`;
  if (millis < 2 * 3_600_000) return `${Math.round(total / 60)} min`;
  return millis < 2 * DAY ? `${Math.round(total / 3600)} h` : `${Math.round(total / 86400)} days`;
}

/** Returns the last part of a class name or path. @param {string} command */
export function shortCommand(command) {
  const first = (command || '').trim().split(/\s+/)[0];
  const path = first.split('/').pop() || first;
  return path.endsWith('.jar') ? path : path.split('.').pop() || path;
}
