// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

const LIGHT = ['#2f6fd0', '#d9691e', '#2b9457', '#8a55cf', '#c93a57', '#138b98', '#9a7500', '#c45597', '#6f8f1a', '#3f4f9f'];
const DARK = ['#6ea6ff', '#ff9d57', '#5fcf8d', '#b892ff', '#ff7d95', '#45c4d0', '#e0b93a', '#f28cc6', '#aed04e', '#8fa0ff'];
/** What belongs to no pool or account in particular. @type {Map<string, {light: string, dark: string}>} */
const NEUTRAL = new Map([['(other)', {light: '#8a96a6', dark: '#7d8a9c'}], ['(unaccounted)', {light: '#c3cad3', dark: '#4d5766'}]]);
const HEAT = {
  light: {
    user: ['#ffffff', '#fde3a7', '#f7a35c', '#d8432f', '#7a1030'], both: ['#ffffff', '#ecd5f2', '#c98ad6', '#9a3fae', '#4b1259'],
    system: ['#ffffff', '#c9defc', '#7fb0f2', '#2f6fd0', '#14306e'],
  },
  dark: {
    user: ['#1d2129', '#4d2b3c', '#a3304f', '#ef7b45', '#ffe9a8'], both: ['#1d2129', '#43285a', '#7d3c9b', '#b978d8', '#eed9fa'],
    system: ['#1d2129', '#24406e', '#2f6fd0', '#6ea6ff', '#d9e9ff'],
  },
};
const STEPS = 32, SHARES = 8;
const SCHEMES = {auto: 'light dark', light: 'light', dark: 'dark'};
const KEY = 'taskclock-scheme';
const system = matchMedia('(prefers-color-scheme: dark)');
/** @type {keyof typeof SCHEMES} */
let scheme = 'auto';
/** @type {Set<() => void>} */
const listeners = new Set();

try {
  const saved = localStorage.getItem(KEY);
  if (saved && saved in SCHEMES) scheme = /** @type {keyof typeof SCHEMES} */ (saved);
} catch {
  // The browser does not allow storage.
}

export function isDark() {
  return scheme === 'dark' || scheme === 'auto' && system.matches;
}

export function schemeName() {
  return scheme === 'auto' ? 'system' : scheme;
}

function apply() {
  document.documentElement.style.colorScheme = SCHEMES[scheme];
  for (const listener of listeners) listener();
}

export function nextScheme() {
  const names = /** @type {(keyof typeof SCHEMES)[]} */ (Object.keys(SCHEMES));
  scheme = names[(names.indexOf(scheme) + 1) % names.length];
  try {
    localStorage.setItem(KEY, scheme);
  } catch {
    // The choice is kept until the page is closed.
  }
  apply();
}

/** @param {() => void} listener @returns {() => void} removes the listener */
export function onScheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

document.documentElement.style.colorScheme = SCHEMES[scheme];
system.addEventListener('change', apply);

/** Returns the value of a color of page.css. @param {string} name */
export function color(name) {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** @param {string} hex @param {number} at */
const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16);

/** @param {string} a @param {string} b @param {number} share of b */
export function mix(a, b, share) {
  /** @param {number} at */
  const one = at => Math.round(part(a, at) + share * (part(b, at) - part(a, at))).toString(16).padStart(2, '0');
  return `#${one(1)}${one(3)}${one(5)}`;
}

/** Keeps each pool's color while the page is open. @type {Map<string, number>} */
const colors = new Map();

/** Assigns different colors to pools that are shown together, as long as there are enough colors. The first pools keep theirs. @param {string[]} pools */
export function distinguish(pools) {
  /** @type {Set<number>} */
  const used = new Set();
  for (const pool of pools) {
    if (NEUTRAL.has(pool)) continue;
    let index = (colors.get(pool) ?? colors.size) % LIGHT.length;
    if (used.has(index)) index = LIGHT.findIndex((_, i) => !used.has(i));
    if (index < 0) return;
    used.add(index);
    colors.set(pool, index);
  }
}

/** @param {string} pool @param {boolean} faded */
export function poolColors(pool, faded = false) {
  const dark = isDark(), background = dark ? '#1d2129' : '#ffffff';
  const neutral = NEUTRAL.get(pool);
  let user = neutral?.[dark ? 'dark' : 'light'] ?? '';
  if (!neutral) {
    let index = colors.get(pool);
    if (index === undefined) colors.set(pool, index = colors.size);
    user = (dark ? DARK : LIGHT)[index % LIGHT.length];
  }
  const kernel = mix(user, dark ? '#0b0d10' : '#000000', dark ? 0.42 : 0.36);
  return faded ? {user: mix(user, background, 0.8), system: mix(kernel, background, 0.8)} : {user, system: kernel};
}

/** @param {string[]} scale @param {number} at between 0 and 1 */
function onScale(scale, at) {
  const place = at * (scale.length - 1), low = Math.min(Math.floor(place), scale.length - 2);
  return mix(scale[low], scale[low + 1], place - low);
}

/**
 * Returns colors by CPU use and by the share of system time in it, as 0xAABBGGRR. The scale is a square root, because most threads
 * use little.
 */
export function heatColors() {
  const {user, both, system: kernel} = isDark() ? HEAT.dark : HEAT.light;
  const table = new Uint32Array((STEPS + 1) * (SHARES + 1));
  for (let i = 0; i <= STEPS; i++) {
    for (let s = 0; s <= SHARES; s++) {
      // Orange and blue would mix to gray.
      const at = i / STEPS, share = s / SHARES * 2;
      const hex = share < 1 ? mix(onScale(user, at), onScale(both, at), share) : mix(onScale(both, at), onScale(kernel, at), share - 1);
      table[i * (SHARES + 1) + s] = (255 << 24 | part(hex, 5) << 16 | part(hex, 3) << 8 | part(hex, 1)) >>> 0;
    }
  }
  /** @param {number} cpu percent of the end of the scale, 0 to 1 @param {number} share of system time, 0 to 1 */
  return (cpu, share) => table[
    Math.round(Math.sqrt(Math.min(1, Math.max(0, cpu))) * STEPS) * (SHARES + 1) + Math.round(Math.min(1, Math.max(0, share)) * SHARES)];
}

/** Returns colors of a legend. @param {'user'|'system'} which */
export function heatScale(which) {
  return (isDark() ? HEAT.dark : HEAT.light)[which];
}
