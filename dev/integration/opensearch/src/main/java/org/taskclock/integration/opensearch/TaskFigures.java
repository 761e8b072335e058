// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.util.ArrayList;
import java.util.List;
import org.opensearch.tasks.Task;
import org.opensearch.tasks.TaskResourceTrackingService;

/** Collects OpenSearch's final figures for search tasks, which {@code GET /_tasks} shows only while they run. */
final class TaskFigures implements TaskResourceTrackingService.TaskCompletionListener {
    private final List<Figure> figures = new ArrayList<>();
    private volatile boolean isCollecting;

    /** The parent of a shard's task is the task of the search. */
    record Figure(long id, long parent, String action, long cpuNanos, int executions) {
        boolean isParent() {
            return action.equals("indices:data/read/search");
        }

        /** Returns the id of the search's own task. */
        long search() {
            return isParent() ? id : parent;
        }
    }

    @Override
    public void onTaskCompleted(Task task) {
        if (!isCollecting) return;
        Figure figure = new Figure(
                task.getId(),
                task.getParentTaskId().getId(),
                task.getAction(),
                task.getTotalResourceStats().getCpuTimeInNanos(),
                task.getThreadUsage().getThreadExecutions());
        synchronized (this) {
            figures.add(figure);
        }
    }

    void start() {
        synchronized (this) {
            figures.clear();
        }
        isCollecting = true;
    }

    /** Returns the figures since {@link #start}. A shard's task may end after the response to the search. */
    List<Figure> stop(int searches) throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            synchronized (this) {
                long parents = figures.stream().filter(Figure::isParent).count();
                if (parents >= searches) break;
            }
            Thread.sleep(10);
        }
        Thread.sleep(50);
        isCollecting = false;
        synchronized (this) {
            return List.copyOf(figures);
        }
    }
}
