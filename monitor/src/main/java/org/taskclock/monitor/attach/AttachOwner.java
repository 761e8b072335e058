// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;

/**
 * The users that may have created the files of the attach protocol: the JVM's own, and root. Any local user can create
 * files in /tmp. The kernel translates the ids of other user namespaces to ours, in /proc as well as for files and
 * sockets.
 */
final class AttachOwner {
    private final Set<UserPrincipal> users;

    /** @param uids the real, effective, saved, and file system user ids, as in the status of the process in /proc */
    AttachOwner(String uids) throws IOException {
        String[] ids = uids.split("\\s+", -1);
        if (ids.length < 2) throw new IOException("its user is unknown");
        UserPrincipal effective = user(ids[1]);
        UserPrincipal root = user("0");
        users = effective.equals(root) ? Set.of(root) : Set.of(effective, root);
    }

    /** Looks a number up, which the service accepts unless it is the name of a user. */
    private static UserPrincipal user(String id) throws IOException {
        return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(id);
    }

    /** Throws if the socket is something else, or if another user could have created it to answer for the JVM. */
    void checkSocket(String path, PosixFileAttributes socket) throws IOException {
        if (socket == null) throw new IOException("its socket " + path + " has disappeared");
        if (!socket.isOther()) throw new IOException(path + " is not a socket");
        if (!users.contains(socket.owner()))
            throw new IOException("its socket " + path + " belongs to another user, " + socket.owner() + ": delete it");
    }

    /** Throws if another user accepts connections to the socket. */
    void checkPeer(SocketChannel channel) throws IOException {
        // A runtime image may lack the module. The owner of the socket has been checked in any case.
        if (ModuleLayer.boot().findModule("jdk.net").isEmpty()) return;
        if (!channel.supportedOptions().contains(ExtendedSocketOptions.SO_PEERCRED)) return;
        UserPrincipal user =
                channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!users.contains(user)) throw new IOException("the user " + user + " answers in its place");
    }

    /**
     * Throws if the JVM would ignore a request because of its owner, and print a thread dump to the program's output
     * when it gets the signal.
     */
    void checkRequest(String path, PosixFileAttributes request) throws IOException {
        if (request == null || users.contains(request.owner())) return;
        throw new IOException("the user " + request.owner() + " has created " + path
                + ", so it would ignore requests to attach: delete that file");
    }
}
