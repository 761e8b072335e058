#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
#
# TaskClock @project.version@, which measures and explains the CPU time of JVM threads. Needs Java 17 or later.
set -eu

