// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** Selects ranges by touch as with the mouse. Vertical movements scroll the page. @param {uPlot} plot @param {() => void} selected */
export function selectByTouch(plot, selected) {
  const over = plot.over;
  let start = -1;
  over.addEventListener('pointerdown', event => {
    start = event.pointerType === 'touch' ? event.offsetX : -1;
  });
  over.addEventListener('pointermove', event => {
    if (start < 0) return;
    const left = Math.max(0, Math.min(start, event.offsetX)), right = Math.min(over.clientWidth, Math.max(start, event.offsetX));
    plot.setSelect({left, top: 0, width: right - left, height: over.clientHeight}, false);
  });
  over.addEventListener('pointercancel', () => {
    start = -1;
    plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
  });
  over.addEventListener('pointerup', () => {
    if (start >= 0) selected();
    start = -1;
  });
}
