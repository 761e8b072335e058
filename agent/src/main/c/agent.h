// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The agent's native half: what stands in place of natives of the JDK. It reads no clock itself, but calls the clock's
// functions, whose table Java hands over. No libc, as the clock.
//
//   agent.c   what Java calls, and what we call in Java
//   times.c   the natives behind ThreadMXBean's CPU times
//   yield.c   the native behind Thread.yield

#ifndef TASKCLOCK_AGENT_H
#define TASKCLOCK_AGENT_H

#include "shared.h"

#include <jni.h>

// agent.c
extern const struct functions *clock_functions;
void *symbol_in(const char *library, const char *name);  // of a library that is loaded; null if there is none
int replace(JNIEnv *env, jclass in, const char *name, const char *signature, void *function);  // true if it was
jlong ask_user(JNIEnv *env, jlong id);                                     // NOT_OURS: the JVM is to answer
int ask_users(JNIEnv *env, jlongArray ids, jlongArray into);               // true if it was answered
void tell_first_yield(JNIEnv *env, jint record);
void tell_yield(JNIEnv *env, jlong weight);
jlong current_thread_id(JNIEnv *env, int *is_virtual);  // Java's id, of a virtual thread its own

#define NOT_OURS INT64_MIN

// times.c
const char *times_prepare(void);  // null, or what is missing
const char *times_take(JNIEnv *env, jclass thread_impl, int others);
const char *times_restore(JNIEnv *env, jclass thread_impl);
void times_answer_virtual(int wanted);  // for virtual threads, where one calls
jlong times_now(JNIEnv *env, jclass thread_impl, const char *native);  // what the native says of the caller; -1 if it fails
jlong times_stock_cpu(JNIEnv *env, jlong id);
jlong times_stock_user(JNIEnv *env, jlong id);
int times_user_is_text(JNIEnv *env);

// yield.c
const char *yield_prepare(JNIEnv *env);
const char *yield_take(JNIEnv *env);
const char *yield_restore(JNIEnv *env);
void yield_set_mode(int mode);
void yield_count_virtual(JNIEnv *env);
int32_t yield_records(int64_t *into, int32_t records);  // how many there are
int yield_free(int32_t record, int64_t *into);  // true if it was: its thread has ended, and this was its record
enum { YIELD_FIELDS = 12 };  // longs of a record

#endif
