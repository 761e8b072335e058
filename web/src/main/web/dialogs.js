// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

import {button, el} from './dom.js';
import {get, messageOf, post} from './api.js';

/**
 * Opens a dialog. Escape closes it. At most one is open.
 * @param {string} title
 * @param {...(Node|string|false|null)} content
 */
export function openDialog(title, ...content) {
  document.querySelector('dialog[open]')?.dispatchEvent(new Event('close'));
  const head = el('h2', {id: 'dialog-title', text: title, tabindex: '-1'});
  const dialog = el('dialog', {'aria-labelledby': 'dialog-title'});
  dialog.append(el('div', {class: 'bar'}, head, el('span', {class: 'grow'}), button('Close', () => dialog.close(), {class: 'close'})), ...content.filter(part => part !== null && part !== false));
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', event => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector('input, textarea, [autofocus]');
  (first instanceof HTMLElement ? first : head).focus();
  return dialog;
}

let isAsking = false;

/** Leads to the identity provider, or asks for the token and then continues. @param {() => void} done */
export async function login(done) {
  if (isAsking || document.querySelector('dialog.login')) return;
  isAsking = true;
  let methods = {token: true, provider: null};
  try {
    methods = await get('api/login');
  } catch {
    // The server has passwords only, or does not answer.
  } finally {
    isAsking = false;
  }
  const provider = methods.provider && el('p', {}, button(`Log in at ${methods.provider}`, () => {
    location.assign(`api/login/start?view=${encodeURIComponent(location.hash || '#/')}`);
  }, {class: 'primary'}));
  const dialog = openDialog('Log in to TaskClock', provider, methods.token && tokenForm(() => {
    dialog.close();
    done();
  }));
  dialog.classList.add('login');
}

/** Asks for the token. @param {() => void} done */
function tokenForm(done) {
  const input = el('input', {type: 'password', name: 'token', autocomplete: 'current-password', 'aria-label': 'Token', required: true});
  const problem = el('p', {class: 'bad', role: 'alert'});
  const form = el('form', {class: 'login-form'},
    el('p', {text: 'This server asks for a token. Its administrator keeps it in the file given with --token-file.'}),
    el('label', {}, 'Token ', input), el('button', {type: 'submit', text: 'Log in'}), problem);
  form.addEventListener('submit', async event => {
    event.preventDefault();
    problem.textContent = '';
    try {
      await post('api/login', {token: input.value.trim()});
      done();
    } catch (e) {
      problem.textContent = messageOf(e);
      input.select();
    }
  });
  return form;
}

/** @param {string} question @param {string} answer @param {() => void} action */
export function confirmAction(question, answer, action) {
  const dialog = openDialog('Please confirm', el('p', {text: question}), el('div', {class: 'bar'},
    button(answer, () => {
      dialog.close();
      action();
    }, {autofocus: true, class: 'primary'}), button('Cancel', () => dialog.close())));
}
