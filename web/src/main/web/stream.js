// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {LiveEvents} from './live.js';
import {now} from './time.js';

/** Much longer than the interval between two events. A stream that is silent for this long is dead. */
const SILENCE_MILLIS = 5_000;
const MAX_DELAY_MILLIS = 5_000;

/** A tab and a worker of another version of the page do not understand each other. */
const PROTOCOL = 'taskclock 1';

/** @typedef {import('./live.js').Listener} Listener */

/** The subscriptions of this tab, which the worker answers, or the tab itself if its browser has no shared workers. */
class Connection {
  constructor() {
    /** @type {Map<number, {subject: string, java: boolean, listener: Listener, end?: () => void}>} */
    this.subscriptions = new Map();
    this.last = 0;
    /** @type {MessagePort|null} */
    this.port = null;
    /** @type {LiveEvents|null} */
    this.own = null;
    try {
      const worker = new SharedWorker(new URL('liveworker.js', import.meta.url), {type: 'module', name: PROTOCOL});
      worker.onerror = () => this.useOwn();
      this.port = worker.port;
      this.port.onmessage = ({data: {key, name, data}}) => this.subscriptions.get(key)?.listener(name, data);
      addEventListener('pagehide', () => this.port?.postMessage({key: 0}));
    } catch {
      this.useOwn();
    }
  }

  useOwn() {
    this.port = null;
    this.own = new LiveEvents(new URL('api/events', document.baseURI).href);
    for (const key of this.subscriptions.keys()) this.start(key);
  }

  /** @param {number} key */
  start(key) {
    const subscription = this.subscriptions.get(key);
    if (!subscription) return;
    const {subject, java, listener} = subscription;
    if (this.own) subscription.end = this.own.subscribe(subject, java, listener);
    else this.port?.postMessage({key, subject, java});
  }

  /** @param {string} subject @param {boolean} java @param {Listener} listener @returns {() => void} */
  subscribe(subject, java, listener) {
    const key = ++this.last;
    this.subscriptions.set(key, {subject, java, listener});
    this.start(key);
    return () => {
      this.subscriptions.get(key)?.end?.();
      this.port?.postMessage({key});
      this.subscriptions.delete(key);
    };
  }
}

/** @type {Connection|null} */
let connection = null;

/**
 * The events of a view. Reconnects: also after the computer slept, and if the connection is dead but not closed, which the browser
 * does not notice.
 */
export class Stream {
  /**
   * @param {string} subject `jvms`, or the id of a JVM
   * @param {Record<string, (data: any) => void>} events
   * @param {{connected: (since: number|null) => void, failed: () => void}} state `connected` receives the time since which there has
   *   been no connection; null if there is one
   * @param {boolean} [java] also receive what only thread dumps contain
   */
  constructor(subject, events, state, java = false) {
    this.subject = subject;
    this.events = events;
    this.state = state;
    this.java = java;
    /** @type {(() => void)|null} */
    this.unsubscribe = null;
    /** @type {number|null} */
    this.lostSince = null;
    this.delay = 500;
    this.lastEvent = Date.now();
    this.closed = false;
    this.timer = 0;
    this.watch = setInterval(() => this.check(), 1_000);
    this.wake = () => document.visibilityState === 'visible' && this.check();
    document.addEventListener('visibilitychange', this.wake);
    this.open();
  }

  open() {
    if (this.closed) return;
    this.unsubscribe?.();
    this.lastEvent = Date.now();
    connection ||= new Connection();
    this.unsubscribe = connection.subscribe(this.subject, this.java, (event, data) => this.receive(event, data));
  }

  /** @param {string} event @param {any} data */
  receive(event, data) {
    if (this.closed || this.timer) return;
    if (event === 'lost' || event === 'absent') return this.lose();
    this.lastEvent = Date.now();
    this.delay = 500;
    if (this.lostSince !== null) {
      this.lostSince = null;
      this.state.connected(null);
    }
    this.events[event]?.(data);
    // For tests and extensions.
    dispatchEvent(new CustomEvent('taskclock', {detail: {event, data}}));
  }

  /** Notices silence, for example after the computer slept. The clock may have been set back meanwhile. */
  check() {
    if (this.closed || this.timer || Math.abs(Date.now() - this.lastEvent) < SILENCE_MILLIS) return;
    this.lose();
  }

  lose() {
    if (this.closed || this.timer) return;
    this.unsubscribe?.();
    this.unsubscribe = null;
    if (this.lostSince === null) this.lostSince = now() - Math.max(0, Date.now() - this.lastEvent);
    this.state.connected(this.lostSince);
    this.state.failed();
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.open();
    }, this.delay);
    this.delay = Math.min(MAX_DELAY_MILLIS, this.delay * 1.6);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.watch);
    document.removeEventListener('visibilitychange', this.wake);
    this.unsubscribe?.();
  }
}
