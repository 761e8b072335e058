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
 * Changes of methods of one class of the JDK. Only where a method has no native behind it that could be replaced, as each
 * time costs the JVM its compiled code that uses the class; a JVM that was attached to loses all of its compiled code with the first.
 *
 * <p>The class is redefined, not retransformed: so no transformer stays registered, which the JVM would call for each later
 * class, and other agents' transformers are applied to the result, now and whenever they retransform the class.
 */
final class Rewriting {
    private static final int API = Opcodes.ASM9;
    private static final String HOOKS = "java/lang/TaskClockHooks";

    /** A change of one method. It is made in full or not at all. */
    static final class Change {
        private final String method;
        private final String descriptor;
        /** What must be found in the method, and how often. */
        private final Map<String, Integer> wanted;

        private final BiFunction<Change, MethodVisitor, MethodVisitor> visitor;
        private final Map<String, Integer> found = new HashMap<>();

        private Change(
                String method,
                String descriptor,
                Map<String, Integer> wanted,
                BiFunction<Change, MethodVisitor, MethodVisitor> visitor) {
            this.method = method;
            this.descriptor = descriptor;
            this.wanted = wanted;
            this.visitor = visitor;
        }

        private void find(String what) {
            found.merge(what, 1, Integer::sum);
        }

        /** Null, or what differs. */
        private String difference() {
            Set<String> all = new HashSet<>(wanted.keySet());
            all.addAll(found.keySet());
            for (String what : all) {
                int times = found.getOrDefault(what, 0);
                int expected = wanted.getOrDefault(what, 0);
                if (times != expected) return what + " occurs " + times + " times, not " + expected;
            }
            return null;
        }

        private byte[] applied(byte[] bytes) {
            found.clear();
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(
                    new ClassVisitor(API, writer) {
                        @Override
                        public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                            MethodVisitor to = super.visitMethod(access, name, type, s, e);
                            boolean it = name.equals(method) && type.equals(descriptor);
                            return it ? visitor.apply(Change.this, to) : to;
                        }
                    },
                    0);
            return difference() == null ? writer.toByteArray() : bytes;
        }
    }

    private final Instrumentation jvm;
    private final Class<?> type;
    private final List<Change> changes;

    Rewriting(Instrumentation jvm, Class<?> type, List<Change> changes) {
        this.jvm = jvm;
        this.type = type;
        this.changes = changes;
    }

    /** Makes those changes that can be made; {@link #demand} tells whether it was one. */
    void apply() throws Refused {
        try {
            byte[] original = original();
            byte[] changed = original;
            for (Change change : changes) changed = change.applied(changed);
            if (changed != original) redefine(changed);
        } catch (Exception | LinkageError e) {
            throw new Refused("cannot change " + type.getName() + ": " + e, e);
        }
    }

    /** Refuses if the change could not be made, and names what is different. */
    void demand(Change change) throws Refused {
        String difference = change.difference();
        if (difference != null)
            throw new Refused(type.getName() + "." + change.method + " is not as expected: " + difference);
    }

    /** Makes the class what it was, less what others change in it. */
    void undo() throws Refused {
        try {
            redefine(original());
        } catch (Exception | LinkageError e) {
            throw new Refused("cannot change " + type.getName() + " back: " + e, e);
        }
    }

    private void redefine(byte[] bytes) throws Exception {
        jvm.redefineClasses(new ClassDefinition(type, bytes));
    }

    /** As the JDK ships it. */
    private byte[] original() throws IOException {
        try (InputStream in =
                type.getModule().getResourceAsStream(type.getName().replace('.', '/') + ".class")) {
            if (in == null) throw new IOException("this JDK does not give out its class file");
            return in.readAllBytes();
        }
    }

    // ---- kinds of changes

    /** In a method without result: returns at once if the hook says so. */
    static Change skip(String method, String hook) {
        return new Change(method, "()V", Map.of(hook, 1), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitCode() {
                super.visitCode();
                change.find(hook);
                Label go = new Label();
                super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()Z", false);
                super.visitJumpInsn(Opcodes.IFEQ, go);
                super.visitInsn(Opcodes.RETURN);
                super.visitLabel(go);
                super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
            }
        });
    }

    /** A call in a method, and the hook that is called before it. */
    record Call(String owner, String name, String descriptor, int times, String hook) {
        boolean is(String owner, String name, String descriptor) {
            return owner.equals(this.owner) && name.equals(this.name) && descriptor.equals(this.descriptor);
        }
    }

    /** In a method of a thread: before each of these calls, calls the hook with the thread. */
    static Change before(String method, List<Call> calls) {
        Map<String, Integer> wanted = new HashMap<>();
        for (Call call : calls) wanted.put(call.name, call.times);
        return new Change(method, "()V", wanted, (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                for (Call call : calls) {
                    if (!call.is(owner, name, called)) continue;
                    change.find(name);
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, call.hook, "(Ljava/lang/Thread;)V", false);
                }
                super.visitMethodInsn(opcode, owner, name, called, i);
            }
        });
    }

    /** Calls another static method of the class with the same arguments. */
    static Change redirect(String method, String descriptor, String callee, String instead) {
        return new Change(method, descriptor, Map.of(callee, 1), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                boolean found = opcode == Opcodes.INVOKESTATIC && name.equals(callee);
                if (found) change.find(callee);
                super.visitMethodInsn(opcode, owner, found ? instead : name, called, i);
            }
        });
    }

    /** Asks the hook instead of Thread.isVirtual. */
    static Change askWhetherVirtual(String method, String descriptor, String hook) {
        return new Change(method, descriptor, Map.of(hook, 1), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                if (owner.equals("java/lang/Thread") && name.equals("isVirtual")) {
                    change.find(hook);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Thread;)Z", false);
                } else {
                    super.visitMethodInsn(opcode, owner, name, called, i);
                }
            }
        });
    }
}
