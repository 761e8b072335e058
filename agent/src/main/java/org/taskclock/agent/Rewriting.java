// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.function.BiFunction;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A change of methods of one class of the JDK. Only where a method has no native behind it that could be replaced, as each
 * such change costs the JVM its compiled code that uses the class.
 */
final class Rewriting implements ClassFileTransformer {
    private static final int API = Opcodes.ASM9;

    private final Instrumentation jvm;
    private final Class<?> type;
    private final String method;
    private final String descriptor;
    private final BiFunction<MethodVisitor, Rewriting, MethodVisitor> change;
    private int places;
    private Throwable failure;
    private boolean kept;

    private Rewriting(
            Instrumentation jvm,
            Class<?> type,
            String method,
            String descriptor,
            BiFunction<MethodVisitor, Rewriting, MethodVisitor> change) {
        this.jvm = jvm;
        this.type = type;
        this.method = method;
        this.descriptor = descriptor;
        this.change = change;
    }

    /** Changes a method that is there once. Refused where it is not, or where nothing in it asked for the change. */
    private Rewriting apply() throws Refused {
        jvm.addTransformer(this, true);
        try {
            jvm.retransformClasses(type);
        } catch (Exception | LinkageError e) {
            failure = e;
        } finally {
            jvm.removeTransformer(this);
        }
        String what = type.getName() + "." + method;
        if (failure != null) throw new Refused("cannot change " + what + ": " + failure, failure);
        if (places == 0) throw new Refused(what + " is not as known");
        return this;
    }

    /**
     * Whether the change outlives that another agent changes the class after us, as the JVM then begins anew with the
     * class as it was. Costs each class that is loaded meanwhile a call.
     */
    void keep(boolean wanted) {
        if (wanted == kept) return;
        if (wanted) jvm.addTransformer(this, true);
        else jvm.removeTransformer(this);
        kept = wanted;
    }

    /** Makes a class what it was, less what others change in it. */
    static void undo(Instrumentation jvm, Class<?> type) throws Refused {
        try {
            jvm.retransformClasses(type);
        } catch (Exception | LinkageError e) {
            throw new Refused("cannot change " + type.getName() + " back: " + e, e);
        }
    }

    @Override
    public byte[] transform(
            Module module, ClassLoader loader, String name, Class<?> changed, ProtectionDomain domain, byte[] bytes) {
        if (changed != type) return null;
        try {
            places = 0;
            byte[] result = rewrite(bytes);
            return places > 0 ? result : null;
        } catch (Throwable e) {
            failure = e; // the JVM would keep it to itself
            return null;
        }
    }

    private byte[] rewrite(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(API, writer) {
                    @Override
                    public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                        MethodVisitor to = super.visitMethod(access, name, type, s, e);
                        return name.equals(method) && type.equals(descriptor) ? change.apply(to, Rewriting.this) : to;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final String HOOKS = "java/lang/TaskClockHooks";

    /** In a method without result: returns at once if the hook says so. */
    static Rewriting skip(Instrumentation jvm, Class<?> type, String method, String hook) throws Refused {
        return new Rewriting(jvm, type, method, "()V", (to, self) -> new MethodVisitor(API, to) {
                    @Override
                    public void visitCode() {
                        super.visitCode();
                        self.places++;
                        Label go = new Label();
                        super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()Z", false);
                        super.visitJumpInsn(Opcodes.IFEQ, go);
                        super.visitInsn(Opcodes.RETURN);
                        super.visitLabel(go);
                        super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
                    }
                })
                .apply();
    }

    /** Calls the hook before each return of an object. */
    static Rewriting atReturn(Instrumentation jvm, Class<?> type, String method, String descriptor, String hook)
            throws Refused {
        return new Rewriting(jvm, type, method, descriptor, (to, self) -> new MethodVisitor(API, to) {
                    @Override
                    public void visitInsn(int opcode) {
                        if (opcode == Opcodes.ARETURN) {
                            self.places++;
                            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()V", false);
                        }
                        super.visitInsn(opcode);
                    }
                })
                .apply();
    }

    /** Calls another static method of the class with the same arguments. */
    static void redirect(
            Instrumentation jvm, Class<?> type, String method, String descriptor, String callee, String instead)
            throws Refused {
        new Rewriting(jvm, type, method, descriptor, (to, self) -> new MethodVisitor(API, to) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                        boolean found = opcode == Opcodes.INVOKESTATIC && name.equals(callee);
                        if (found) self.places++;
                        super.visitMethodInsn(opcode, owner, found ? instead : name, called, i);
                    }
                })
                .apply();
    }
}
