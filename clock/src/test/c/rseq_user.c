// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A library whose code contains the signature of restartable sequences, as every library that uses them does.

#include "shared.h"

#define TEXT(number) #number
#define WORD(number) ".long " TEXT(number)

__asm__(".text\n" WORD(RSEQ_SIGNATURE));
