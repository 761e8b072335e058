// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
// @ts-check

/** An error response. */
export class ApiError extends Error {
  /** @param {number} status 0 if the server did not answer @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {() => void} */
let unauthorized = () => {};

/** Sets the action to run when the server requests the token. @param {() => void} action */
export function onUnauthorized(action) {
  unauthorized = action;
}

/** @param {Response} response */
async function failure(response) {
  if (response.status === 401) unauthorized();
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).error || message;
  } catch {
    // For example, the response of a proxy.
  }
  return new ApiError(response.status, message);
}

/** @param {string} path @param {RequestInit} options */
async function request(path, options) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {credentials: 'same-origin', cache: 'no-store', ...options});
  } catch (e) {
    if (options.signal?.aborted) throw e;
    throw new ApiError(0, 'The server does not answer.');
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
  return (await request(path, {signal})).json();
}

/** @param {string} path @returns {Promise<string>} */
export async function getText(path) {
  return (await request(path, {})).text();
}

/** @param {string} path @param {unknown} [body] @returns {Promise<any>} */
export async function post(path, body = {}) {
  return send(path, 'application/json', JSON.stringify(body));
}

/** @param {string} path @param {string} type @param {BodyInit} body @returns {Promise<any>} */
export async function send(path, type, body) {
  const response = await request(path, {method: 'POST', body, headers: {'Content-Type': type, 'X-TaskClock': '1'}});
  const text = await response.text();
  return text ? JSON.parse(text) : {};
}

/** @param {string} base @param {Record<string, string|number|undefined>} parameters */
export function query(base, parameters) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) text.set(name, String(value));
  return `${base}?${text}`;
}

/** @param {string} id @param {string} rest */
export function jvmPath(id, rest = '') {
  return `api/jvms/${encodeURIComponent(id)}${rest}`;
}

/** @param {string} id @param {string} rest */
export function profilePath(id, rest = '') {
  return `api/profiles/${encodeURIComponent(id)}${rest}`;
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
