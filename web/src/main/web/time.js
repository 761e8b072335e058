// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** How far the browser's clock is behind the server's, in milliseconds. */
let offset = 0;

/** Returns the server's time, because the page shows the times of the server. The browser's clock may be wrong. */
export function now() {
  return Date.now() + offset;
}

/** @param {number} time the server's, now */
export function setNow(time) {
  offset = time - Date.now();
}
