// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Properties;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Another agent, for tests of failures. Its options are methods, as {@code package/Class#method} separated by commas.
 * While the system property {@link #SWITCH} is set, they throw an OutOfMemoryError: at once, or at their end if {@code
 * @end} follows. With the option {@code system}, System.err and the system properties throw when they are written.
 */
public final class FaultInjector implements ClassFileTransformer {
    static final String SWITCH = "test.fault";
    static final String SYSTEM = "system";

    private final List<String> methods;

    private FaultInjector(List<String> methods) {
        this.methods = methods;
    }

    /** Called by the JVM. */
    public static void premain(String options, Instrumentation instrumentation) {
        List<String> methods = List.of(options.split(",", -1));
        instrumentation.addTransformer(new FaultInjector(methods));
        if (!methods.contains(SYSTEM)) return;
        System.setErr(new PrintStream(OutputStream.nullOutputStream()) {
            @Override
            public void println(String line) {
                throw new IllegalStateException("injected");
            }
        });
        Properties properties = new Properties() {
            private static final long serialVersionUID = 1;

            @Override
            public synchronized Object setProperty(String key, String value) {
                throw new OutOfMemoryError("injected");
            }
        };
        properties.putAll(System.getProperties());
        System.setProperties(properties);
    }

    /** Returns the option with which a JVM loads this agent. */
    static String option(Path directory, String... methods) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", FaultInjector.class.getName());
        Path jar = directory.resolve("fault-injector.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream jarOut = new JarOutputStream(out, manifest)) {
            jarOut.flush();
        }
        return "-javaagent:" + jar + "=" + String.join(",", methods);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
        if (methods.stream().noneMatch(method -> method.startsWith(name + "#"))) return null;
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(int access, String method, String d, String s, String[] e) {
                        MethodVisitor next = super.visitMethod(access, method, d, s, e);
                        if (methods.contains(name + "#" + method)) return failing(next);
                        return methods.contains(name + "#" + method + "@end") ? failingAtItsEnd(next) : next;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static MethodVisitor failing(MethodVisitor next) {
        return new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                fail(mv);
            }
        };
    }

    /** For methods without branches that return null. */
    private static MethodVisitor failingAtItsEnd(MethodVisitor next) {
        return new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.ARETURN) {
                    super.visitInsn(Opcodes.POP);
                    fail(mv);
                    super.visitInsn(Opcodes.ACONST_NULL);
                }
                super.visitInsn(opcode);
            }
        };
    }

    private static void fail(MethodVisitor code) {
        Label proceed = new Label();
        code.visitLdcInsn(SWITCH);
        code.visitMethodInsn(
                Opcodes.INVOKESTATIC,
                "java/lang/System",
                "getProperty",
                "(Ljava/lang/String;)Ljava/lang/String;",
                false);
        code.visitJumpInsn(Opcodes.IFNULL, proceed);
        code.visitTypeInsn(Opcodes.NEW, "java/lang/OutOfMemoryError");
        code.visitInsn(Opcodes.DUP);
        code.visitLdcInsn("injected");
        code.visitMethodInsn(
                Opcodes.INVOKESPECIAL, "java/lang/OutOfMemoryError", "<init>", "(Ljava/lang/String;)V", false);
        code.visitInsn(Opcodes.ATHROW);
        code.visitLabel(proceed);
        code.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
    }
}
