// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {isDark, onScheme} from './palette.js';

const MIN_HEIGHT = 240, MAX_HEIGHT = 4000;
const RELOAD_DELAY = 150;

/**
 * Sends the color scheme to flame graphs, which are separate pages, and gives each the height that it needs.
 * @param {HTMLIFrameElement[]} frames
 * @param {(frame: HTMLIFrameElement) => void} reload
 * @param {() => void} [search] called if a reader wants to search
 * @returns {() => void} ends that
 */
export function connectFrames(frames, reload, search = () => {}) {
  /** @type {Map<HTMLIFrameElement, number>} */
  const reloads = new Map();
  /** @param {HTMLIFrameElement} frame */
  const postScheme = frame => frame.contentWindow?.postMessage(isDark() ? 'dark' : 'light', '*');
  const offScheme = onScheme(() => frames.forEach(postScheme));
  /** @param {MessageEvent} event */
  const receive = ({source, data}) => {
    const frame = frames.find(one => one.contentWindow === source);
    if (!frame || !data) return;
    if (data.search) search();
    if (data.reload) {
      clearTimeout(reloads.get(frame));
      reloads.set(frame, setTimeout(() => reload(frame), RELOAD_DELAY));
    }
    if (!(data.height > 0)) return;
    frame.style.height = Math.min(Math.max(data.height, MIN_HEIGHT), MAX_HEIGHT) + 'px';
    postScheme(frame);
  };
  addEventListener('message', receive);
  return () => {
    removeEventListener('message', receive);
    offScheme();
  };
}
