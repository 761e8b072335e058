// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** An embedded Tomcat on the loopback interface. */
final class WebServer implements AutoCloseable {
    private final Tomcat tomcat = new Tomcat();
    private final Connector connector = new Connector();
    private final Context context;
    private final HttpClient client = HttpClient.newHttpClient();

    WebServer(String contextPath) {
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        context = tomcat.addContext(contextPath, null);
    }

    Connector connector() {
        return connector;
    }

    WebServer with(String pattern, Servlet servlet) {
        Wrapper wrapper = Tomcat.addServlet(context, pattern, servlet);
        wrapper.setAsyncSupported(true);
        wrapper.addMapping(pattern);
        return this;
    }

    /** Maps a filter to all paths and all kinds of dispatches. */
    WebServer with(Filter filter) {
        FilterDef definition = new FilterDef();
        definition.setFilter(filter);
        definition.setFilterName(filter.toString());
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName(filter.toString());
        map.addURLPattern("/*");
        for (DispatcherType type : DispatcherType.values()) map.setDispatcher(type.name());
        context.addFilterMap(map);
        return this;
    }

    WebServer withErrorPage(String path) {
        ErrorPage page = new ErrorPage();
        page.setErrorCode(500);
        page.setLocation(path);
        context.addErrorPage(page);
        return this;
    }

    WebServer start() throws LifecycleException {
        tomcat.start();
        return this;
    }

    /** Sends a request with a header {@code X-Tenant} and returns the status. A null tenant sends no header. */
    int get(String path, String tenant) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + connector.getLocalPort() + path));
        if (tenant != null) request.header("X-Tenant", tenant);
        return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    @Override
    public void close() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
