// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The agent's native code: functions that replace native methods of the JDK. It reads no clock itself, but calls the
// clock library through a table of functions, which it finds in the page that all copies of the clock share. Like the
// clock, it does not use libc.
//
//   agent.c   the native methods that Java code calls
//   ends.c    the end of platform threads
//   floors.c  what the threads' times must not fall below
//   jvm.c     what the agent looks up in the JVM, and calls to Java methods
//   times.c   the native methods behind ThreadMXBean's CPU times
//   yield.c   the native method behind Thread.yield

#ifndef TASKCLOCK_AGENT_H
#define TASKCLOCK_AGENT_H

#include "shared.h"

#include <jni.h>

// jvm.c
extern const struct functions *clock_functions;
void *symbol_in(const char *library, const char *name);  // null if not found, or if the library is not loaded
// Returns whether the method was replaced.
int replace_native(JNIEnv *env, jclass class, const char *name, const char *signature, void *function);
#define USE_STOCK INT64_MIN
jlong read_user_time(JNIEnv *env, jlong id);                        // USE_STOCK: call the JVM's own function
int read_user_times(JNIEnv *env, jlongArray ids, jlongArray into);  // false: call the JVM's own function
jclass jvm_prepare(JNIEnv *env);  // returns the hooks, or null with a pending exception
void report_first_virtual_thread(JNIEnv *env);
void report_first_yield(JNIEnv *env, jint record);
void report_yield_sample(JNIEnv *env, jlong weight);
void report_thread_end(JNIEnv *env, jobject thread, const jlong *values, jsize count);
jlong current_thread_id(JNIEnv *env, int *is_virtual);  // the Java id; for a virtual thread, not its carrier's

// ends.c. Returns a message, or null on success.
const char *ends_report(JNIEnv *env, int on);

// times.c. The functions that return a message return null on success.
const char *times_prepare(void);
// jvm_may_have_answered: before now, so no time may fall below its answers
const char *times_take(JNIEnv *env, jclass thread_impl, int others, int jvm_may_have_answered);
void times_stop(void);  // the JVM answers again, but no time goes backwards
void times_answer_virtual(int on);                                     // on: virtual threads get their own CPU time
jlong times_now(JNIEnv *env, jclass thread_impl, const char *native);  // calls the method; -1 if it fails
jlong times_stock_cpu(JNIEnv *env, jlong id);
jlong times_stock_user(JNIEnv *env, jlong id);
int times_user_is_text(JNIEnv *env);  // 1, 0, or -1 if unknown

// yield.c
const char *yield_prepare(JNIEnv *env);
const char *yield_take(JNIEnv *env);
const char *yield_restore(JNIEnv *env);
void yield_set_mode(int mode);
void yield_count_virtual(JNIEnv *env);
int32_t yield_records(int64_t *into, int32_t capacity);  // returns the number of records
int yield_free(int32_t record, int64_t *into);           // copies and frees the record if its thread has ended
enum { YIELD_FIELDS = 12 };                              // longs per record

#endif
