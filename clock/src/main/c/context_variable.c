// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The variable in which profilers look for the context of a thread (OpenTelemetry's OTEP 4947). It has a library of its
// own, which is loaded only if contexts are published, because a process must not have two such variables.
//
// Profilers find the variable's place from the TLSDESC relocation that the function causes.

__attribute__((visibility("default"))) __thread void *otel_thread_ctx_v1;

__attribute__((visibility("default"))) void **taskclock_context_address(void) { return &otel_thread_ctx_v1; }
