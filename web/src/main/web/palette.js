// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

const LIGHT = ['#2f6fd0', '#d9691e', '#2b9457', '#8a55cf', '#c93a57', '#138b98', '#9a7500', '#c45597', '#6f8f1a', '#3f4f9f'];
const DARK = ['#6ea6ff', '#ff9d57', '#5fcf8d', '#b892ff', '#ff7d95', '#45c4d0', '#e0b93a', '#f28cc6', '#aed04e', '#8fa0ff'];
/** What belongs to no pool or account in particular. @type {Map<string, {light: string, dark: string}>} */
const NEUTRAL = new Map([['(other)', {light: '#8a96a6', dark: '#7d8a9c'}], ['(unaccounted)', {light: '#c3cad3', dark: '#4d5766'}]]);
const STEPS = 32;
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

/**
 * Returns the color of a value, as 0xAABBGGRR. The scale is a square root, because most threads use little.
 * @param {string} full at the end of the scale
 * @returns {(value: number) => number} of a part of the scale, 0 to 1
 */
export function intensity(full) {
  const background = isDark() ? '#1d2129' : '#ffffff';
  const table = Uint32Array.from({length: STEPS + 1}, (_, i) => {
    const hex = mix(background, full, i / STEPS);
    return (255 << 24 | part(hex, 5) << 16 | part(hex, 3) << 8 | part(hex, 1)) >>> 0;
  });
  return value => table[Math.round(Math.sqrt(Math.min(1, Math.max(0, value))) * STEPS)];
}
