// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.agent.ProgramAccountsTest.usage;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.taskclock.CpuAccounts;

/** Several class loaders of a program with different versions of the servlet API, and classes that do not fit. */
class ServletLoadersTest {
    private static final int REQUESTS = 3;

    /** Both the API of Servlet 3, which has no mappings, and that of Servlet 4. */
    @Test
    void shouldWorkWithTwoClassLoaders() throws Exception {
        JvmLauncher.withAgent("accounts=endpoint")
                .usingLibrary()
                .option("-Dservlet.apis=" + System.getProperty("servlet.apis"))
                .run(TwoLoaders.class)
                .assertSilent();
    }

    static final class TwoLoaders {
        public static void main(String[] args) throws Exception {
            for (String version : new String[] {"3.1.0", "4.0.1"}) {
                Path jar = Path.of(System.getProperty("servlet.apis"), "javax.servlet-api-" + version + ".jar");
                // The program's class path has the API of another package.
                try (URLClassLoader api =
                        new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
                    Object servlet = servlet(api, "Servlet of " + version);
                    for (int i = 0; i < REQUESTS; i++) call(api, servlet);
                }
            }
            assertThat(usage("endpoint", "Servlet of 3.1.0").sections()).isEqualTo(REQUESTS);
            assertThat(usage("endpoint", "/context/pattern/*").sections()).isEqualTo(REQUESTS);
            assertThat(CpuAccounts.type("endpoint").read().accounts()).hasSize(2);
            assertThat(AgentCheck.bean().getFailures()).isZero();
        }

        /** Returns a servlet that throws an exception, as HttpServlet does if nothing is overridden. */
        private static Object servlet(ClassLoader api, String name) throws Exception {
            ClassWriter writer = new ClassWriter(0);
            String parent = "javax/servlet/http/HttpServlet";
            writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "Broken", null, parent, null);
            MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
            constructor.visitCode();
            constructor.visitVarInsn(Opcodes.ALOAD, 0);
            constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, parent, "<init>", "()V", false);
            constructor.visitInsn(Opcodes.RETURN);
            constructor.visitMaxs(1, 1);
            byte[] bytes = writer.toByteArray();
            Class<?> type = new ClassLoader(api) {
                Class<?> define() {
                    return defineClass("Broken", bytes, 0, bytes.length);
                }
            }.define();
            Object servlet = type.getConstructor().newInstance();
            Class<?> config = Class.forName("javax.servlet.ServletConfig", false, api);
            Object proxy = proxy(api, config, Map.of("getServletName", name));
            type.getMethod("init", config).invoke(servlet, proxy);
            return servlet;
        }

        private static Object proxy(ClassLoader api, Class<?> type, Map<String, Object> results) {
            return Proxy.newProxyInstance(
                    api, new Class<?>[] {type}, (self, method, arguments) -> results.get(method.getName()));
        }

        private static void call(ClassLoader api, Object servlet) throws Exception {
            Class<?> http = Class.forName("javax.servlet.http.HttpServletRequest", false, api);
            Object context = proxy(
                    api,
                    Class.forName("javax.servlet.ServletContext", false, api),
                    Map.of("getContextPath", "/context"));
            Object mapping = null;
            try {
                Class<?> type = Class.forName("javax.servlet.http.HttpServletMapping", false, api);
                mapping = proxy(api, type, Map.of("getPattern", "/pattern/*"));
            } catch (ClassNotFoundException e) {
                assertThat(servlet.toString()).as("Servlet 3").isNotEmpty();
            }
            Object request = mapping == null
                    ? proxy(api, http, Map.of("getMethod", "GET"))
                    : proxy(
                            api,
                            http,
                            Map.of("getMethod", "GET", "getServletContext", context, "getHttpServletMapping", mapping));
            Class<?> response = Class.forName("javax.servlet.http.HttpServletResponse", false, api);
            try {
                servlet.getClass()
                        .getMethod(
                                "service",
                                Class.forName("javax.servlet.ServletRequest", false, api),
                                Class.forName("javax.servlet.ServletResponse", false, api))
                        .invoke(servlet, request, proxy(api, response, Map.of()));
                throw new AssertionError("the servlet must fail without a protocol");
            } catch (InvocationTargetException e) {
                assertThat(e).hasCauseInstanceOf(NullPointerException.class);
            }
        }
    }

    /** A class of this name without the method is left alone, and so is the program. */
    @Test
    void shouldRefuseAClassThatDoesNotFit() throws Exception {
        JvmLauncher.Result result = JvmLauncher.withAgent("accounts=endpoint").run(Misfit.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: accounts: javax.servlet.http.HttpServlet is not as expected:"
                        + " no method service(Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;)V\n");
    }

    static final class Misfit {
        public static void main(String[] args) throws Exception {
            Path directory = Files.createTempDirectory("misfit");
            Path file = directory.resolve("javax/servlet/http/HttpServlet.class");
            Files.createDirectories(file.getParent());
            ClassWriter writer = new ClassWriter(0);
            writer.visit(
                    Opcodes.V1_8, Opcodes.ACC_PUBLIC, "javax/servlet/http/HttpServlet", null, "java/lang/Object", null);
            Files.write(file, writer.toByteArray());
            try (URLClassLoader loader =
                    new URLClassLoader(new URL[] {directory.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
                assertThat(Class.forName("javax.servlet.http.HttpServlet", true, loader)
                                .getMethods())
                        .isNotEmpty();
            }
            long end = System.nanoTime() + 10_000_000_000L;
            while (!System.getProperty("taskclock.agent").contains("unavailable: accounts")) {
                assertThat(System.nanoTime() - end)
                        .as("the agent does not report it")
                        .isNegative();
                Thread.sleep(5);
            }
        }
    }
}
