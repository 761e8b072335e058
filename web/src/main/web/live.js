// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** What the server sends, and `lost` if the connection is. @typedef {(event: string, data: any) => void} Listener */

const STATES = ['jvms', 'interval'];
const EVENTS = [...STATES, 'changes', 'ended', 'absent'];
/** Views that open at the same time share one connection from the start. */
const OPEN_DELAY = 20;

/**
 * Applies a JSON merge patch (RFC 7396). In a list, it changes the elements at the positions that it names, and appends others.
 * What it removes from an object becomes null, which stands for unknown values.
 * @param {any} state @param {any} patch @returns {any}
 */
export function patched(state, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  if (Array.isArray(state)) {
    const kept = state.map((row, i) => i in patch ? patched(row, patch[i]) : row).filter((_, i) => patch[i] !== null);
    return kept.concat(patch.append || []);
  }
  const result = {...state};
  for (const [name, change] of Object.entries(patch)) result[name] = patched(result[name], change);
  return result;
}

/** Receives the events of several views over one connection, because browsers open only six to a server with HTTP/1.1. */
export class LiveEvents {
  /** @param {string} address */
  constructor(address) {
    this.address = address;
    /** @type {Map<string, {java: boolean, event: string, state: any, listeners: Set<Listener>}>} */
    this.topics = new Map();
    /** @type {EventSource|null} */
    this.source = null;
    this.opened = '';
    this.timer = 0;
  }

  /**
   * @param {string} subject `jvms`, or the id of a JVM @param {boolean} java also what only thread dumps contain
   * @param {Listener} listener
   * @returns {() => void} ends this
   */
  subscribe(subject, java, listener) {
    const topic = this.topics.get(subject) || {java: false, event: '', state: null, listeners: new Set()};
    this.topics.set(subject, topic);
    topic.java ||= java;
    topic.listeners.add(listener);
    if (topic.state) listener(topic.event, topic.state);
    this.openLater();
    return () => {
      topic.listeners.delete(listener);
      if (!topic.listeners.size && this.topics.get(subject) === topic) this.topics.delete(subject);
      this.openLater();
    };
  }

  openLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), OPEN_DELAY);
  }

  open() {
    const query = new URLSearchParams();
    for (const [subject, {java}] of this.topics) {
      query.append('of', subject);
      if (java) query.append('java', subject);
    }
    const wanted = String(query);
    if (wanted === this.opened) return;
    this.source?.close();
    this.source = null;
    this.opened = wanted;
    if (!wanted) return;
    const source = this.source = new EventSource(`${this.address}?${wanted}`);
    source.onerror = () => source === this.source && this.lose();
    for (const name of EVENTS) {
      source.addEventListener(name, event => source === this.source && this.receive(name, /** @type {MessageEvent} */ (event)));
    }
  }

  /** @param {string} name @param {MessageEvent} event its id is the subject */
  receive(name, {lastEventId, data}) {
    const topic = this.topics.get(lastEventId);
    if (!topic) return;
    const value = JSON.parse(data);
    if (name === 'changes') topic.state = patched(topic.state, value);
    else if (STATES.includes(name)) Object.assign(topic, {event: name, state: value});
    else return topic.listeners.forEach(listener => listener(name, value));
    topic.listeners.forEach(listener => listener(topic.event, topic.state));
  }

  lose() {
    this.source?.close();
    this.source = null;
    this.opened = '';
    for (const topic of this.topics.values()) {
      topic.state = null;
      topic.listeners.forEach(listener => listener('lost', null));
    }
  }
}
