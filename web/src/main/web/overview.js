// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {el, clean, setText} from './dom.js';
import {CardOrder, nameOf} from './cards.js';
import {duration, isKnown, moment, percent} from './format.js';
import {color, onScheme} from './palette.js';
import {openJvm, presetFor, readState, remember} from './state.js';
import {beginOf, byKind, kindOf, subjectOf} from './findings.js';
import {Stream} from './stream.js';
import {get, messageOf} from './api.js';

/** @typedef {import('./types.js').Jvm} Jvm */
/** @typedef {import('./types.js').Jvms} Jvms */

/** @param {HTMLCanvasElement} canvas @param {(number|null)[]} values @param {number} least the minimum height of the scale */
function sparkline(canvas, values, least) {
  const ratio = devicePixelRatio, width = canvas.clientWidth * ratio, height = canvas.clientHeight * ratio;
  if (!width) return;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) return;
  const max = Math.max(least, ...values.map(value => value || 0)), step = width / 60;
  context.fillStyle = color('accent');
  context.globalAlpha = 0.85;
  values.forEach((value, i) => {
    if (!isKnown(value)) return;
    const top = Math.max(ratio, Number(value) / max * (height - 1));
    context.fillRect((60 - values.length + i) * step, height - top, Math.max(1, step - ratio * 0.5), top);
  });
}

/** The overview of the JVMs of the host. */
export class Overview {
  /** @param {HTMLElement} host @param {import('./page.js').Page} page */
  constructor(host, page) {
    this.page = page;
    this.machine = el('section', {class: 'part machine', 'aria-label': 'Machine'});
    this.alerts = el('section', {class: 'part findings', 'aria-label': 'Findings', tabindex: '0'}, el('h2', {text: 'No findings'}));
    this.list = el('section', {class: 'cards', 'aria-label': 'JVMs'});
    this.order = new CardOrder(readState(), changes => {
      remember(changes);
      this.update(readState());
    });
    this.empty = el('section', {class: 'part empty', hidden: true});
    this.endedTitle = el('summary', {});
    this.endedList = el('ul', {class: 'ended', tabindex: '0', 'aria-label': 'Ended JVMs'});
    this.ended = el('details', {class: 'part', hidden: true}, this.endedTitle, this.endedList);
    host.replaceChildren(el('h1', {class: 'unseen', text: 'JVMs of this host'}),
      el('div', {class: 'top'}, this.machine, this.alerts), this.order.bar, this.empty, this.list, this.ended);
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
    /** By group. @type {Map<string, HTMLElement>} */
    this.titles = new Map();
    /** @type {Jvms|null} */
    this.data = null;
    this.shownFindings = '';
    this.endedCount = 0;
    this.stream = new Stream('jvms', {jvms: data => this.show(data)}, {
      connected: since => page.connected(since), failed: () => page.checkServer(),
    });
    this.offScheme = onScheme(() => this.data && this.show(this.data));
    this.timer = setInterval(() => this.loadEnded(), 30_000);
    this.loadEnded();
  }

  /** @param {Jvms} data */
  show(data) {
    this.data = data;
    const {machine} = data, jvms = data.jvms.filter(jvm => !jvm.ended), now = machine.cpu[machine.cpu.length - 1];
    if (!this.machineText) {
      this.machineText = el('strong', {});
      this.machineCanvas = el('canvas', {class: 'spark', 'aria-hidden': 'true'});
      this.machine.append(el('div', {}, el('h2', {text: 'Machine'}), el('div', {class: 'big'}, this.machineText)), this.machineCanvas);
    }
    setText(this.machineText, `${percent(now === null ? now : Math.min(now, machine.processors * 100))} % of ${machine.processors * 100} %`);
    if (this.machineCanvas) sparkline(this.machineCanvas, machine.cpu, machine.processors * 100);
    this.showFindings(jvms);
    this.place(jvms, machine.processors);
    this.empty.hidden = jvms.length > 0;
    this.order.bar.hidden = !jvms.length;
    const ended = data.jvms.length - jvms.length;
    if (ended > this.endedCount) this.loadEnded();
    this.endedCount = ended;
    if (!jvms.length && !this.empty.firstChild) {
      this.empty.append(
        el('h2', {text: 'No JVM is running on this host'}),
        el('p', {text: 'A JVM appears here about a second after it starts. JVMs of other users appear only if TaskClock runs as root.'}),
        el('p', {}, 'To see a JVM that misbehaves, run ', el('code', {text: 'taskclock top --demo'}), ' in a terminal.'));
    }
  }

  /** Applies the state in the URL. @param {import('./state.js').State} state */
  update(state) {
    this.order.update(state);
    if (this.data) this.show(this.data);
  }

  /** Puts the cards in order, each at its place of the second before if possible. @param {Jvm[]} jvms @param {number} processors */
  place(jvms, processors) {
    const groups = this.order.arrange(jvms, this.list.matches(':hover, :focus-within'));
    /** @type {HTMLElement[]} */
    const wanted = [];
    for (const {name, jvms: members} of groups) {
      if (name) {
        const title = this.titles.get(name) || el('h2', {class: 'group-title'});
        this.titles.set(name, title);
        setText(title, `${name}: ${percent(members.reduce((sum, jvm) => sum + (jvm.cpu || 0), 0))} %, ${members.length} JVM${members.length > 1 ? 's' : ''}`);
        wanted.push(title);
      }
      for (const jvm of members) {
        const card = this.cards.get(jvm.id) || this.card(jvm);
        this.cards.set(jvm.id, card);
        wanted.push(card);
      }
    }
    for (const child of [...this.list.children]) if (!wanted.includes(/** @type {HTMLElement} */ (child))) child.remove();
    wanted.forEach((child, i) => this.list.children[i] !== child && this.list.insertBefore(child, this.list.children[i] || null));
    for (const {jvms: members} of groups) for (const jvm of members) this.fill(/** @type {HTMLElement} */ (this.cards.get(jvm.id)), jvm, processors);
    const ids = new Set(jvms.map(({id}) => id));
    for (const id of this.cards.keys()) if (!ids.has(id)) this.cards.delete(id);
  }

  /** @param {Jvm[]} jvms */
  showFindings(jvms) {
    const all = jvms.flatMap(jvm => jvm.findings.map(finding => ({jvm, finding})));
    this.alerts.classList.toggle('alerts', all.length > 0);
    const text = all.map(({jvm, finding}) => jvm.id + kindOf(finding) + finding.text + finding.since).join('\n');
    if (text === this.shownFindings) return;
    this.shownFindings = text;
    this.alerts.replaceChildren(el('h2', {text: all.length === 1 ? '1 finding' : `${all.length || 'No'} findings`}), ...all.map(({jvm, finding}) => this.findingLine(jvm, finding)));
  }

  /** @param {Jvm} jvm @param {import('./types.js').Finding} finding */
  findingLine(jvm, finding) {
    return el('button', {type: 'button', class: 'finding-line', 'data-jvm': clean(jvm.id), onclick: () => this.open(jvm, finding)},
      el('b', {class: 'kind', text: kindOf(finding)}), el('span', {class: 'where', text: nameOf(jvm)}),
      el('span', {class: 'what', text: finding.text}),
      finding.since ? el('time', {text: beginOf(finding, this.page.info?.started || 0)}) : null);
  }

  /** @param {Jvm} jvm @param {import('./types.js').Finding} [finding] */
  open(jvm, finding) {
    if (!finding) return openJvm(jvm.id);
    const {since} = finding;
    openJvm(jvm.id, {...subjectOf(finding), begin: since || 0, range: since ? presetFor(since, this.page.now()) : 'live'});
  }

  /** @param {Jvm} jvm */
  card(jvm) {
    const card = el('article', {class: 'part card'},
      el('a', {class: 'card-link', href: '#/jvm/' + encodeURIComponent(jvm.id)}, el('h3', {})),
      el('p', {class: 'where'}), el('div', {class: 'figures'}, el('strong', {class: 'cpu'}), el('span', {class: 'parts'})),
      el('canvas', {class: 'spark', 'aria-hidden': 'true'}), el('p', {class: 'container'}), el('p', {class: 'busiest'}), el('div', {class: 'card-findings'}));
    card.dataset.jvm = clean(jvm.id);
    return card;
  }

  /** @param {HTMLElement} card @param {Jvm} jvm @param {number} processors */
  fill(card, jvm, processors) {
    /** @param {string} selector */
    const part = selector => /** @type {HTMLElement} */ (card.querySelector(selector));
    setText(part('h3'), nameOf(jvm));
    part('h3').title = clean(`${jvm.service || ''}\n${jvm.command}`);
    const pod = jvm.kubernetes ? `${jvm.kubernetes.namespace}/${jvm.kubernetes.pod}, ` : '';
    setText(part('.where'), `${pod}pid ${jvm.pid}, ${jvm.threads} threads, up ${duration(this.page.now() - jvm.started)}${jvm.agent ? ', agent' : ''}`);
    setText(part('.cpu'), `${percent(jvm.cpu)} %`);
    setText(part('.parts'), `user ${percent(jvm.user)}  system ${percent(jvm.system)}`);
    const limit = jvm.limit, container = isKnown(jvm.container) ? `container ${percent(jvm.container)} %${isKnown(limit) && limit ? ` of ${Math.round(Number(limit) * 100)} %` : ''}` : '';
    const throttled = isKnown(jvm.throttled) && Number(jvm.throttled) >= 0.05 ? `throttled ${percent(jvm.throttled)} %` : '';
    setText(part('.container'), [container, throttled].filter(Boolean).join(', '));
    part('.container').classList.toggle('bad', throttled !== '');
    this.busiest(part('.busiest'), jvm.accounts || []);
    sparkline(/** @type {HTMLCanvasElement} */ (part('canvas')), jvm.sparkline, Math.min(100, processors * 100));
    card.classList.toggle('found', jvm.findings.length > 0);
    const findings = part('.card-findings');
    const text = jvm.findings.map(finding => kindOf(finding) + finding.text + finding.since).join('\n');
    if (findings.dataset.shown === text) return;
    findings.dataset.shown = clean(text);
    findings.replaceChildren(...byKind(jvm.findings).map(group => this.tag(jvm, group)));
  }

  /** The findings of one kind, which differ only in their threads. @param {Jvm} jvm @param {import('./types.js').Finding[]} group */
  tag(jvm, group) {
    const first = group.reduce((a, b) => ((b.since || Infinity) < (a.since || Infinity) ? b : a));
    const count = group.length > 1 ? ` (${group.length})` : '';
    return el('button', {type: 'button', class: 'tag', title: group.map(({text}) => text).join('\n'), onclick: () => this.open(jvm, first),
      text: `${kindOf(first)}${count} ${beginOf(first, this.page.info?.started || 0)}`});
  }

  /** Shows the busiest accounts. @param {HTMLElement} line @param {{type: string, name: string, cpu: number|null}[]} accounts */
  busiest(line, accounts) {
    line.hidden = !accounts.length;
    line.replaceChildren(...accounts.flatMap(({type, name, cpu}, i) => [`${i ? ', ' : ''}${type} `, el('bdi', {text: name}), ` ${percent(cpu)} %`]));
    line.title = line.textContent || '';
  }

  async loadEnded() {
    try {
      const now = Math.ceil(this.page.now()), data = /** @type {Jvms} */ (await get(`api/jvms?from=${now - 86_400_000}&to=${now}`));
      const ended = data.jvms.filter(jvm => jvm.ended).sort((a, b) => Number(b.ended) - Number(a.ended)).slice(0, 50);
      this.ended.hidden = !ended.length;
      setText(this.endedTitle, `${ended.length} JVM${ended.length > 1 ? 's' : ''} ended in the last 24 hours`);
      this.endedList.replaceChildren(...ended.map(jvm => el('li', {},
        el('button', {type: 'button', class: 'link', text: nameOf(jvm), onclick: () => openJvm(jvm.id, {
          range: 'fixed', from: Math.max(jvm.started, Number(jvm.ended) - 900_000), to: Number(jvm.ended) + 5_000})}),
        ` pid ${jvm.pid}, ended ${moment(Number(jvm.ended))}, ran ${duration(Number(jvm.ended) - jvm.started)}`)));
    } catch (e) {
      if (this.data) this.page.problem('ended', messageOf(e));
    }
  }

  /** Moves the focus between cards. @param {KeyboardEvent} event */
  key(event) {
    const links = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll('.card-link')]);
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const by = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    if (by && links.length) {
      links[Math.max(0, Math.min(links.length - 1, at + by))].focus();
      event.preventDefault();
    } else if (event.key === '/') {
      this.order.input.focus();
      event.preventDefault();
    } else if (event.key === 'F2' || event.key === 'D') {
      /** @type {HTMLElement|null} */ (this.alerts.querySelector('button'))?.focus();
      event.preventDefault();
    }
  }

  close() {
    clearInterval(this.timer);
    this.stream.close();
    this.offScheme();
  }
}
