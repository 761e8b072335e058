// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Another library that publishes thread contexts. Accessed as compilers do by default.

__attribute__((visibility("default"))) __thread void *otel_thread_ctx_v1;

__attribute__((visibility("default"))) void **other_context(void) { return &otel_thread_ctx_v1; }
