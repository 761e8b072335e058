// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {LiveEvents} from './live.js';

// Runs as a SharedWorker, once for all tabs, which share its connection.
const events = new LiveEvents(new URL('../api/events', location.href).href);

addEventListener('connect', event => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  /** @type {Map<number, () => void>} */
  const ends = new Map();
  const close = () => {
    ends.forEach(end => end());
    ends.clear();
  };
  port.onmessage = ({data: {key, subject, java}}) => {
    ends.get(key)?.();
    ends.delete(key);
    if (subject) ends.set(key, events.subscribe(subject, java, (name, data) => port.postMessage({key, name, data})));
    else if (!key) close();
  };
  // When a tab crashes. Browsers that do not know this event keep the connection until the last tab is closed.
  port.addEventListener('close', close);
});
