// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** Much longer than the interval between two events. A stream that is silent for this long is dead. */
const SILENCE_MILLIS = 5_000;
const MAX_DELAY_MILLIS = 5_000;

/**
 * A stream of server-sent events that reconnects: also after the computer slept, and if the connection is dead but not closed.
 * EventSource alone gives up when the server answers with an error, and does not notice silence.
 */
export class Stream {
  /**
   * @param {string} path
   * @param {Record<string, (data: any) => void>} events
   * @param {{connected: (since: number|null) => void, failed: () => void}} state `connected` receives the time since which there has been no connection; null if there is one
   */
  constructor(path, events, state) {
    this.path = path;
    this.events = events;
    this.state = state;
    /** @type {EventSource|null} */
    this.source = null;
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
    this.source?.close();
    const source = this.source = new EventSource(this.path);
    this.lastEvent = Date.now();
    source.onerror = () => this.lose();
    for (const [name, action] of Object.entries(this.events)) {
      source.addEventListener(name, event => {
        if (source !== this.source) return;
        this.lastEvent = Date.now();
        this.delay = 500;
        if (this.lostSince !== null) {
          this.lostSince = null;
          this.state.connected(null);
        }
        action(JSON.parse(/** @type {MessageEvent} */ (event).data));
      });
    }
  }

  /** Notices silence, for example after the computer slept. */
  check() {
    if (this.closed || this.timer || !this.source || Date.now() - this.lastEvent < SILENCE_MILLIS) return;
    this.lose();
  }

  lose() {
    if (this.closed || this.timer) return;
    this.source?.close();
    if (this.lostSince === null) this.lostSince = Math.min(Date.now(), this.lastEvent);
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
    this.source?.close();
  }
}
