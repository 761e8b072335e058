// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Changes to the bytecode of one JDK class. They are used only if no native method can be replaced instead, because
 * each redefinition discards the compiled code that uses the class. The first one in a JVM with an attached agent
 * discards all compiled code.
 *
 * <p>The class is redefined, not retransformed. So no transformer stays registered, which the JVM would call for every
 * class that it loads. The transformers of other agents apply to the result, now and whenever they retransform the
 * class.
 */
final class ClassPatch {
    private static final int API = Opcodes.ASM9;
    private static final String HOOKS = "java/lang/TaskClockHooks";

    /** A change to one method. It is made completely or not at all. */
    static final class Change {
        private final String method;
        private final String descriptor;
        /** The places to change, by name, and how often each must occur in the method. */
        private final Map<String, Integer> expected;

        private final BiFunction<Change, MethodVisitor, MethodVisitor> visitor;
        /** How often each place occurred. */
        private final Map<String, Integer> found = new HashMap<>();

        private Change(
                String method,
                String descriptor,
                Map<String, Integer> expected,
                BiFunction<Change, MethodVisitor, MethodVisitor> visitor) {
            this.method = method;
            this.descriptor = descriptor;
            this.expected = expected;
            this.visitor = visitor;
        }

        private void count(String place) {
            found.merge(place, 1, Integer::sum);
        }

        /** Returns how the method differs from the expected one, or null if it does not. */
        private String difference() {
            Set<String> all = new HashSet<>(expected.keySet());
            all.addAll(found.keySet());
            for (String place : all) {
                int times = found.getOrDefault(place, 0);
                int expectedTimes = expected.getOrDefault(place, 0);
                if (times != expectedTimes) return place + " occurs " + times + " times, not " + expectedTimes;
            }
            return null;
        }

        /** Returns the class file with the change, or unchanged if the method differs from the expected one. */
        private byte[] applyTo(byte[] bytes) {
            found.clear();
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(
                    new ClassVisitor(API, writer) {
                        @Override
                        public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                            MethodVisitor next = super.visitMethod(access, name, type, s, e);
                            boolean matches = name.equals(method) && type.equals(descriptor);
                            return matches ? visitor.apply(Change.this, next) : next;
                        }
                    },
                    0);
            return difference() == null ? writer.toByteArray() : bytes;
        }
    }

    private final Instrumentation instrumentation;
    private final Class<?> type;
    private final List<Change> changes;

    ClassPatch(Instrumentation instrumentation, Class<?> type, List<Change> changes) {
        this.instrumentation = instrumentation;
        this.type = type;
        this.changes = changes;
    }

    /** Makes each change whose method is as expected. {@link #require} checks whether a change was made. */
    void apply() throws FeatureException {
        try {
            byte[] original = original();
            byte[] changed = original;
            for (Change change : changes) changed = change.applyTo(changed);
            if (changed != original) redefine(changed);
        } catch (Exception | LinkageError e) {
            throw new FeatureException("cannot change " + type.getName() + ": " + e, e);
        }
    }

    /** Throws if the change could not be made. The message names the difference. */
    void require(Change change) throws FeatureException {
        String difference = change.difference();
        if (difference != null)
            throw new FeatureException(type.getName() + "." + change.method + " is not as expected: " + difference);
    }

    /** Removes the changes. The changes of other agents stay. */
    void undo() throws FeatureException {
        try {
            redefine(original());
        } catch (Exception | LinkageError e) {
            throw new FeatureException("cannot restore " + type.getName() + ": " + e, e);
        }
    }

    private void redefine(byte[] bytes) throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(type, bytes));
    }

    /** Returns the class file that the JDK ships. */
    private byte[] original() throws IOException {
        try (InputStream in =
                type.getModule().getResourceAsStream(type.getName().replace('.', '/') + ".class")) {
            if (in == null) throw new IOException("this JDK does not provide its class file");
            return in.readAllBytes();
        }
    }

    // ---- kinds of changes

    /** Makes a void method return at once if a hook returns true. */
    static Change skipIf(String method, String hook) {
        return new Change(method, "()V", Map.of(hook, 1), (change, next) -> new MethodVisitor(API, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                change.count(hook);
                Label proceed = new Label();
                super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()Z", false);
                super.visitJumpInsn(Opcodes.IFEQ, proceed);
                super.visitInsn(Opcodes.RETURN);
                super.visitLabel(proceed);
                super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
            }
        });
    }

    /** A call in a method, how often it must occur, and the hook to call before it. */
    record Call(String owner, String name, String descriptor, int times, String hook) {
        boolean matches(String owner, String name, String descriptor) {
            return owner.equals(this.owner) && name.equals(this.name) && descriptor.equals(this.descriptor);
        }
    }

    /**
     * Makes a method of a thread class call a hook, with the thread as its argument, before each of the given calls.
     */
    static Change hookBefore(String method, List<Call> calls) {
        Map<String, Integer> expected = new HashMap<>();
        for (Call call : calls) expected.put(call.name, call.times);
        return new Change(method, "()V", expected, (change, next) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                for (Call call : calls) {
                    if (!call.matches(owner, name, called)) continue;
                    change.count(name);
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, call.hook, "(Ljava/lang/Thread;)V", false);
                }
                super.visitMethodInsn(opcode, owner, name, called, i);
            }
        });
    }

    /** Makes a method call another static method of its class, with the same arguments. */
    static Change redirect(String method, String descriptor, String callee, String newCallee) {
        return new Change(method, descriptor, Map.of(callee, 1), (change, next) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                boolean found = opcode == Opcodes.INVOKESTATIC && name.equals(callee);
                if (found) change.count(callee);
                super.visitMethodInsn(opcode, owner, found ? newCallee : name, called, i);
            }
        });
    }

    /** Makes a method call a hook, with the thread as its argument, instead of Thread.isVirtual. */
    static Change replaceIsVirtual(String method, String descriptor, String hook) {
        return new Change(method, descriptor, Map.of(hook, 1), (change, next) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                if (owner.equals("java/lang/Thread") && name.equals("isVirtual")) {
                    change.count(hook);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Thread;)Z", false);
                } else {
                    super.visitMethodInsn(opcode, owner, name, called, i);
                }
            }
        });
    }
}
