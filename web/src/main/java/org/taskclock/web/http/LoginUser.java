// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

/**
 * A user of the identity provider, who may read.
 *
 * @param name for people and the audit log; it begins with "oidc:", so that it differs from the users of passwords
 * @param mayAct whether the user may perform actions, if the server allows them
 */
record LoginUser(String name, boolean mayAct) {}
