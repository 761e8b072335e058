// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/**
 * The state of the view in the URL, so that a link shows others the same view. `by` is the type of the accounts that are shown instead of
 * pools and threads, or the dimension of a fleet, of which `service` is the service that is shown alone.
 * @typedef {{view: 'overview'|'jvm', jvm: string, range: string, from: number, to: number, filter: string, sort: string,
 *   reverse: boolean, pools: boolean, open: string, highlight: string, begin: number, compare: string, by: string, group: string,
 *   order: string, service: string}} State
 */

/** @type {State} */
const INITIAL = {
  view: 'overview', jvm: '', range: 'live', from: 0, to: 0, filter: '', sort: 'cpu', reverse: false, pools: true, open: '',
  highlight: '', begin: 0, compare: '', by: '', group: '', order: 'start', service: '',
};

/** Lengths of the live ranges, in milliseconds. */
export const PRESETS = new Map([
  ['live', 300_000], ['15m', 900_000], ['1h', 3_600_000], ['6h', 21_600_000], ['24h', 86_400_000], ['7d', 604_800_000],
  ['30d', 2_592_000_000],
]);

/** @returns {State} */
export function readState() {
  const [path, text = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const parameters = new URLSearchParams(text);
  const state = {...INITIAL};
  const [view, jvm] = path.split('/');
  if (view === 'jvm' && jvm) {
    state.view = 'jvm';
    try {
      state.jvm = decodeURIComponent(jvm);
    } catch {
      state.view = 'overview';
    }
  }
  for (const [name, value] of parameters) {
    if (name === 'view' || name === 'jvm' || !(name in INITIAL)) continue;
    const initial = INITIAL[/** @type {keyof State} */ (name)];
    const parsed = typeof initial === 'boolean' ? value === '1' : typeof initial === 'number' ? Number(value) || 0 : value;
    Object.assign(state, {[name]: parsed});
  }
  if (state.from && state.to > state.from) state.range = 'fixed';
  else if (!PRESETS.has(state.range)) state.range = 'live';
  return state;
}

/** @param {State} state */
export function addressOf(state) {
  const parameters = new URLSearchParams();
  for (const [name, initial] of Object.entries(INITIAL)) {
    const value = state[/** @type {keyof State} */ (name)];
    if (name === 'view' || name === 'jvm' || value === initial) continue;
    if (name === 'range' && value === 'fixed' || (name === 'from' || name === 'to') && state.range !== 'fixed') continue;
    parameters.set(name, typeof value === 'boolean' ? value ? '1' : '0' : String(typeof value === 'number' ? Math.round(value) : value));
  }
  const path = state.view === 'jvm' ? 'jvm/' + encodeURIComponent(state.jvm) : '';
  const text = parameters.toString();
  return `#/${path}${text ? '?' + text : ''}`;
}

/** Opens another view or range. The browser's back button returns. @param {Partial<State>} changes */
export function navigate(changes) {
  const address = addressOf({...readState(), ...changes});
  if (address !== location.hash) location.hash = address;
}

/** Returns the address of a JVM, without state of another one. @param {string} jvm @param {Partial<State>} [changes] */
export function jvmAddress(jvm, changes = {}) {
  return addressOf({...INITIAL, view: 'jvm', jvm, ...changes});
}

/** @param {string} jvm @param {Partial<State>} [changes] */
export function openJvm(jvm, changes = {}) {
  location.hash = jvmAddress(jvm, changes);
}

/** Changes the URL without an event or a new history entry. @param {Partial<State>} changes */
export function remember(changes) {
  history.replaceState(history.state, '', addressOf({...readState(), ...changes}));
}

/** Returns the shortest live range that includes this time. @param {number} time @param {number} now */
export function presetFor(time, now) {
  for (const [name, length] of PRESETS) if (now - time < length * 0.85) return name;
  return '30d';
}
