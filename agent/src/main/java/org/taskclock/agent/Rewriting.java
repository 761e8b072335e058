// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
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
 * time costs the JVM its compiled code that uses the class.
 */
final class Rewriting implements ClassFileTransformer {
    private static final int API = Opcodes.ASM9;
    private static final String HOOKS = "java/lang/TaskClockHooks";

    /** A change of one method. It is made in full or not at all. */
    static final class Change {
        private final String method;
        private final String descriptor;
        private final Set<String> wanted;
        private final BiFunction<Change, MethodVisitor, MethodVisitor> visitor;
        /** Those of the wanted places that were found. */
        private final Set<String> found = new HashSet<>();

        private Change(
                String method,
                String descriptor,
                Set<String> wanted,
                BiFunction<Change, MethodVisitor, MethodVisitor> visitor) {
            this.method = method;
            this.descriptor = descriptor;
            this.wanted = wanted;
            this.visitor = visitor;
        }

        boolean isMade() {
            return found.containsAll(wanted);
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
            return isMade() ? writer.toByteArray() : bytes;
        }
    }

    private final Instrumentation jvm;
    private final Class<?> type;
    private final List<Change> changes;
    private Throwable failure;
    private boolean kept;

    Rewriting(Instrumentation jvm, Class<?> type, List<Change> changes) {
        this.jvm = jvm;
        this.type = type;
        this.changes = changes;
    }

    /** Makes those changes that can be made; {@link #demand} tells whether it was one. */
    void apply() throws Refused {
        jvm.addTransformer(this, true);
        try {
            jvm.retransformClasses(type);
        } catch (Exception | LinkageError e) {
            failure = e;
        } finally {
            if (!kept) jvm.removeTransformer(this);
        }
        if (failure != null) throw new Refused("cannot change " + type.getName() + ": " + failure, failure);
    }

    void demand(Change change) throws Refused {
        if (!change.isMade()) throw new Refused(type.getName() + "." + change.method + " is not as known");
    }

    /**
     * Whether the changes outlive that another agent changes the class after us, as the JVM then begins anew with the class as
     * it was. Costs each class that is loaded meanwhile a call.
     */
    void keep(boolean wanted) {
        if (wanted == kept) return;
        if (wanted) jvm.addTransformer(this, true);
        else jvm.removeTransformer(this);
        kept = wanted;
    }

    /** Makes the class what it was, less what others change in it. */
    void undo() throws Refused {
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
            byte[] result = bytes;
            for (Change change : changes) result = change.applied(result);
            return result == bytes ? null : result;
        } catch (Throwable e) {
            failure = e; // the JVM would keep it to itself
            return null;
        }
    }

    // ---- kinds of changes

    /** In a method without result: returns at once if the hook says so. */
    static Change skip(String method, String hook) {
        return new Change(method, "()V", Set.of(hook), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitCode() {
                super.visitCode();
                change.found.add(hook);
                Label go = new Label();
                super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()Z", false);
                super.visitJumpInsn(Opcodes.IFEQ, go);
                super.visitInsn(Opcodes.RETURN);
                super.visitLabel(go);
                super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
            }
        });
    }

    /** Calls the hook before each return of an object. */
    static Change atReturn(String method, String descriptor, String hook) {
        return new Change(method, descriptor, Set.of(hook), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.ARETURN) {
                    change.found.add(hook);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "()V", false);
                }
                super.visitInsn(opcode);
            }
        });
    }

    /** In a method of a thread: before each call of a method of a name here, calls its hook with the thread. */
    static Change before(String method, Map<String, String> hooks) {
        return new Change(method, "()V", Set.copyOf(hooks.values()), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                String hook = hooks.get(name);
                if (hook != null) {
                    change.found.add(hook);
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Thread;)V", false);
                }
                super.visitMethodInsn(opcode, owner, name, called, i);
            }
        });
    }

    /** Calls another static method of the class with the same arguments. */
    static Change redirect(String method, String descriptor, String callee, String instead) {
        return new Change(method, descriptor, Set.of(callee), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                boolean found = opcode == Opcodes.INVOKESTATIC && name.equals(callee);
                if (found) change.found.add(callee);
                super.visitMethodInsn(opcode, owner, found ? instead : name, called, i);
            }
        });
    }

    /** Asks the hook instead of Thread.isVirtual. */
    static Change askWhetherVirtual(String method, String descriptor, String hook) {
        return new Change(method, descriptor, Set.of(hook), (change, to) -> new MethodVisitor(API, to) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean i) {
                if (owner.equals("java/lang/Thread") && name.equals("isVirtual")) {
                    change.found.add(hook);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Thread;)Z", false);
                } else {
                    super.visitMethodInsn(opcode, owner, name, called, i);
                }
            }
        });
    }
}
