// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** Control characters, and those that change the direction of text. */
const DISALLOWED = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Names of threads come from programs that we do not trust. They become text, never markup.
 * @param {unknown} value
 */
export function clean(value) {
  return value === null || value === undefined ? '' : String(value).replace(DISALLOWED, '\ufffd');
}

/**
 * Creates an element. Properties: `class`, `text`, functions as `onclick`, and attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') element.className = String(value);
    else if (name === 'text') element.textContent = clean(value);
    else if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? '' : clean(value));
  }
  for (const child of children) if (child || child === '') element.append(typeof child === 'string' ? clean(child) : child);
  return element;
}

/** @param {string} text @param {() => void} action @param {Record<string, unknown>} [properties] */
export function button(text, action, properties = {}) {
  return el('button', {type: 'button', text, onclick: action, ...properties});
}

/** Returns a box that scrolls, also with the keys. @param {string} label what is in it @param {...Node} children */
export function scrollBox(label, ...children) {
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label}, ...children);
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error('no element ' + id);
  return element;
}

/** Changes text only if it differs, so that selections and screen readers are not disturbed. @param {Node} node @param {string} text */
export function setText(node, text) {
  const cleaned = clean(text);
  if (node.textContent !== cleaned) node.textContent = cleaned;
}

/** Makes a function run at most once per frame. @param {() => void} action */
export function oncePerFrame(action) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action();
    });
  };
}
