// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {navigate} from './state.js';

const LEAST_RANGE = 1_000;
const LONGEST_RANGE = 31_104_000_000;

/** Moves through time: zooms, pans, and goes from finding to finding. */
export class TimeControl {
  /** @param {import('./jvm.js').JvmView} view */
  constructor(view) {
    this.view = view;
  }

  /** @returns {[number, number][]} */
  brushes() {
    return this.view.state.compare.split(',').filter(text => /^\d+-\d+$/.test(text)).map(text => {
      const [from, to] = text.split('-').map(Number);
      return [from, to];
    });
  }

  /** @param {boolean} on */
  compare(on) {
    if (on && this.view.data.isLive) navigate({compare: 'on', range: 'fixed', from: Math.round(this.view.data.from), to: Math.round(this.view.data.to)});
    else navigate({compare: on ? 'on' : ''});
  }

  /** The user has dragged over a range. @param {number} from @param {number} to */
  select(from, to) {
    if (!this.view.comparing) return this.go(from, to);
    const kept = this.brushes().length === 1 ? this.brushes() : [];
    navigate({compare: [...kept, [from, to]].map(([start, end]) => `${Math.round(start)}-${Math.round(end)}`).join(',')});
  }

  /** @param {number} from @param {number} to */
  go(from, to) {
    const length = Math.max(LEAST_RANGE, Math.min(LONGEST_RANGE, to - from)), end = Math.min(from + length, this.view.page.now() + 1_000);
    navigate({range: 'fixed', from: Math.round(end - length), to: Math.round(end)});
  }

  /** @param {number} by a fraction of the range */
  pan(by) {
    const {from, to} = this.view.data, distance = (to - from) * by;
    this.go(from + distance, to + distance);
  }

  /** @param {number} factor */
  zoom(factor) {
    const {from, to} = this.view.data, center = this.view.hoverTime ?? (from + to) / 2;
    this.go(center - (center - from) * factor, center + (to - center) * factor);
  }

  /** Goes to the previous or next finding. @param {number} by */
  nextFinding(by) {
    const marks = this.view.data.marks.filter(mark => mark.kind === 'finding').sort((a, b) => a.time - b.time);
    const at = this.view.state.begin || (by > 0 ? this.view.data.from : this.view.data.to);
    const next = by > 0 ? marks.find(mark => mark.time > at + 500) : marks.reverse().find(mark => mark.time < at - 500);
    if (next) this.view.show({kind: next.kind, text: next.text, since: next.time});
  }
}
