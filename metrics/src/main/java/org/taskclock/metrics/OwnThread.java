// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.taskclock.PoolName;

/** A platform thread of this process. */
final class OwnThread extends SampledThread {
    private static final int TEXT_BYTES = 4_096;

    private final OwnThreads threads;

    /** Null if it is not a Java thread, as far as known. */
    private WeakReference<Thread> thread;

    /** Empty while it is unknown which thread this is. */
    private String name = "";

    /** Whether it is known which thread this is, and whether it is a Java thread. */
    private boolean isIdentified;

    OwnThread(long id, OwnThreads threads) {
        super(id);
        this.threads = threads;
        if (!threads.hasDetails()) return;
        total.waitNanos = 0;
        total.voluntary = 0;
        total.involuntary = 0;
    }

    @Override
    protected boolean read(int row) {
        if (!setTimes(threads.cpuNanos(row), total.waitNanos)) return false;
        total.userNanos = threads.userNanos(row);
        return true;
    }

    boolean isIdentified() {
        return isIdentified && !hasEnded();
    }

    /** Returns whether the Java thread has ended, although its kernel thread, or another one with its id, exists. */
    private boolean hasEnded() {
        Thread owner = owner();
        return thread != null && (owner == null || !owner.isAlive());
    }

    private Thread owner() {
        return thread == null ? null : thread.get();
    }

    /**
     * Sets which Java thread this is. It changes if native code detaches and attaches a thread.
     *
     * @param isCertain false if the id may already have been that of an earlier thread when its times were read
     */
    void setThread(Thread owner, boolean isCertain) {
        isIdentified = isCertain;
        if (owner() == owner) return;
        thread = new WeakReference<>(owner);
        // A thread that starts or ends has no entry yet, or any more, and may have been taken for one of the JVM.
        setName(owner.getName());
    }

    /**
     * Records that this is not, or no longer, a Java thread.
     *
     * @param isCertain false if it may be one that is about to start or end. Its pool is then unknown, unless the name
     *     is that of a thread of the JVM.
     * @param interim the pool to use while the pool is unknown; null for none
     */
    void setNoThread(boolean isCertain, PoolKey interim) {
        isIdentified = isCertain;
        thread = null;
        if (!name.isEmpty()) return;
        String kernelName = kernelName();
        if (kernelName == null) return; // it has ended
        if (isCertain || ThreadNames.kind(kernelName, ThreadNames.Owner.UNKNOWN) != ThreadKind.JAVA)
            setName(kernelName);
        else if (interim != null) threads.assign(this, interim);
    }

    /** Updates the pool of a Java thread that was renamed. */
    void updateName() {
        Thread owner = owner();
        if (owner != null && !owner.getName().equals(name)) setName(owner.getName());
    }

    private void setName(String newName) {
        name = ThreadNames.renamed(name, newName);
        updatePool();
    }

    /** Determines the pool from the name. */
    void updatePool() {
        String pool = thread == null ? ThreadNames.pool(name) : PoolName.of(name);
        threads.assign(this, new PoolKey(pool, ThreadNames.kind(name, javaOwner())));
    }

    private ThreadNames.Owner javaOwner() {
        Thread owner = owner();
        if (owner == null) return ThreadNames.Owner.NOT_JAVA;
        boolean isCarrier = owner.getClass().getName().equals("jdk.internal.misc.CarrierThread");
        return isCarrier || threads.isCarrier(id) ? ThreadNames.Owner.CARRIER : ThreadNames.Owner.JAVA;
    }

    /** Returns the name that the kernel has; null if the thread has ended. */
    private String kernelName() {
        byte[] text = new byte[64];
        int length = read("comm", text);
        return length <= 0 ? null : new String(text, 0, length, StandardCharsets.UTF_8).trim();
    }

    /** Reads nothing, because a thread that has not run for long has hardly any switches. */
    @Override
    protected boolean readFirst() {
        return true;
    }

    @Override
    protected boolean readDetails() {
        byte[] text = new byte[TEXT_BYTES];
        int length = read("schedstat", text);
        if (length <= 0) return false;
        ByteBuffer schedstat = ByteBuffer.wrap(text, 0, length);
        // The file has only zeros if the kernel does not maintain it.
        total.waitNanos = ProcText.number(schedstat) <= 0 ? -1 : ProcText.number(schedstat);
        length = read("status", text);
        if (length <= 0) return false;
        setSwitches(text, length);
        return true;
    }

    /** Reads a file of the thread in /proc. FileInputStream takes half the time of Files. */
    private int read(String file, byte[] text) {
        try (FileInputStream in = new FileInputStream("/proc/self/task/" + id + "/" + file)) {
            return in.read(text);
        } catch (IOException e) {
            return -1;
        }
    }
}
