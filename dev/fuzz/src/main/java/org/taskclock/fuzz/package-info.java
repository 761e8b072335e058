// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
/** Runs the fuzz targets, which are in the packages of the parsers, and keeps their inputs. */
package org.taskclock.fuzz;
