// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Thrown if a folder for temporary files cannot be used. The message names the folder, the reason, and the remedy. */
public final class TemporaryFolderException extends IOException {
    private static final long serialVersionUID = 1;

    private TemporaryFolderException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns the folder for our own temporary files. */
    public static Path folder() {
        return Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
    }

    /** Returns an exception for a failure to create or write a file in our own temporary folder. */
    public static TemporaryFolderException of(IOException cause) {
        Path folder = folder();
        return new TemporaryFolderException(
                "the temporary folder " + folder + " " + problem(folder, cause)
                        + ": choose another one with -Djava.io.tmpdir=DIR",
                cause);
    }

    /** Returns an exception for a failure to create or write a file in the temporary folder of a process. */
    public static TemporaryFolderException of(long pid, IOException cause) {
        return new TemporaryFolderException("its /tmp " + problem(TargetFiles.of(pid), cause), cause);
    }

    private static String problem(TargetFiles target, IOException cause) {
        try {
            return problem(target.isDirectory("/tmp"), true, cause);
        } catch (IOException e) {
            return "cannot be used: " + e.getMessage();
        }
    }

    private static String problem(Path folder, IOException cause) {
        return problem(Files.isDirectory(folder), Files.isWritable(folder), cause);
    }

    private static String problem(boolean exists, boolean isWritable, IOException cause) {
        if (!exists) return "does not exist";
        String reason = cause instanceof FileSystemException e && e.getReason() != null
                ? e.getReason()
                : String.valueOf(cause.getMessage());
        if (reason.contains("No space left") || reason.contains("quota exceeded")) return "is full";
        boolean isDenied = cause instanceof AccessDeniedException
                || reason.contains("Read-only")
                || reason.contains("not permitted")
                || !isWritable;
        return isDenied ? "is not writable" : "cannot be used: " + reason;
    }
}
