// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Checks the CPU time that is extrapolated from measured yields.

#include "check.h"
#include "yield_cost.h"

enum { INTERVAL = 1024 };

int main(void) {
    // The first measured yield stands for itself only, however long the thread has run.
    struct yield_cost thread = {0};
    CHECK(yield_cost(&thread, 1, 5000000, 5000700, 1) == 700);

    // The measured yields stand for the others as long as the thread has used that much time.
    int64_t now = 5000700, yields = 1;
    for (int i = 0; i < 100; i++) {
        yields += INTERVAL, now += 1000 * INTERVAL;
        CHECK(yield_cost(&thread, yields, now - 300, now, 1) == 300 * INTERVAL);
    }

    // A yield that took exceptionally long is spread over the intervals in which the thread had used more.
    yields += INTERVAL, now += 1000 * INTERVAL;
    CHECK(yield_cost(&thread, yields, now - 2000, now, 1) == 1000 * INTERVAL);
    yields += INTERVAL, now += 1000 * INTERVAL;
    CHECK(yield_cost(&thread, yields, now, now, 1) == 1000 * INTERVAL);
    yields += INTERVAL, now += 1000 * INTERVAL;
    CHECK(yield_cost(&thread, yields, now, now, 1) == 0);

    // If all measured yields take too long, the result is the thread's own time, and this ends soon after they do.
    int64_t start = now, sum = 0;
    for (int i = 0; i < 1000; i++) {
        yields += INTERVAL, now += 1000 * INTERVAL;
        sum += yield_cost(&thread, yields, now - 50000, now, 1);
        CHECK(sum == now - start);
    }
    for (int i = 0; i < 20; i++) {
        yields += INTERVAL, now += 1000 * INTERVAL;
        sum = yield_cost(&thread, yields, now - 10, now, 1);
    }
    CHECK(sum == 10 * INTERVAL);

    // The time between two periods of counting does not count, and neither does what was left over.
    yields += INTERVAL, now += 1000 * INTERVAL;
    yield_cost(&thread, yields, now - 50000, now, 1);
    yields += 500, now += 3600000000000;
    CHECK(yield_cost(&thread, yields, now - 40000, now, 2) == 40000);
    CHECK(thread.owed == 0);

    // A clock that cannot be read gives no time.
    CHECK(yield_cost(&thread, yields + INTERVAL, -1, -1, 2) == 0);
    return 0;
}
