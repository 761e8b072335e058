// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Removes the prefix of the external URL from paths. Proxies may have removed it already. */
final class PrefixHandler extends Handler.Wrapper {
    private final String prefix;

    PrefixHandler(Handler handler, String prefix) {
        super(handler);
        this.prefix = prefix;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        HttpURI uri = request.getHttpURI();
        String path = uri.getPath();
        if (path == null || prefix.isEmpty() || !path.startsWith(prefix))
            return super.handle(request, response, callback);
        String rest = path.substring(prefix.length());
        if (rest.isEmpty()) {
            // The page's links are relative.
            Response.sendRedirect(request, response, callback, prefix + "/");
            return true;
        }
        if (!rest.startsWith("/")) return super.handle(request, response, callback);
        HttpURI served = HttpURI.build(uri).path(rest).asImmutable();
        return super.handle(Request.serveAs(request, served), response, callback);
    }
}
