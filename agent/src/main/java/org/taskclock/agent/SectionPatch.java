// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Wraps methods of a program's class in a section: {@code section = enter(point, this, argument)} at the start, and
 * {@code exit(section)} at each return and when an exception leaves the method. The section is in a local variable of
 * its own, so it is closed even if the agent is detached in the meantime.
 *
 * <p>A class is changed completely or not at all.
 */
final class SectionPatch {
    private static final int API = Opcodes.ASM9;
    private static final String HOOKS = "java/lang/TaskClockSections";
    private static final String SECTION = "java/lang/AutoCloseable";

    /** Access flags of methods that cannot be wrapped. */
    private static final int UNSUITABLE = Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;

    private SectionPatch() {}

    /**
     * Returns the changed class file, or null if it was already changed.
     *
     * @param points the points of this class. Those of the same method differ in their descriptors: a class has one of
     *     these methods
     * @throws FeatureException if the class is not as expected
     */
    static byte[] apply(byte[] bytes, List<AccountPoint> points) throws FeatureException {
        ClassReader reader = new ClassReader(bytes);
        Shape shape = new Shape();
        reader.accept(shape, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        if (shape.isPatched) return null;
        Map<String, AccountPoint> chosen = shape.choose(points);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(API, writer) {
                    @Override
                    public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
                        MethodVisitor next = super.visitMethod(access, name, type, s, e);
                        AccountPoint point = chosen.get(name + type);
                        return point == null ? next : new Wrapper(next, point, shape.maxLocals.get(name + type));
                    }
                },
                ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }

    /** What has to be known of a class before it is changed. Methods are known by name and descriptor. */
    private static final class Shape extends ClassVisitor {
        final Map<String, Integer> maxLocals = new HashMap<>();
        private final Map<String, Integer> access = new HashMap<>();
        private final Map<String, String> fields = new HashMap<>();
        private int version;
        private String name;
        boolean isPatched;

        Shape() {
            super(API);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            this.version = version & 0xffff;
            this.name = name;
        }

        @Override
        public FieldVisitor visitField(int access, String name, String type, String signature, Object value) {
            fields.put(name, type);
            return null;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String s, String[] e) {
            this.access.put(name + type, access);
            return new MethodVisitor(API) {
                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String calledType, boolean i) {
                    if (owner.equals(HOOKS)) isPatched = true;
                }

                @Override
                public void visitMaxs(int maxStack, int locals) {
                    maxLocals.put(name + type, locals);
                }
            };
        }

        /** Returns the points by method. */
        Map<String, AccountPoint> choose(List<AccountPoint> points) throws FeatureException {
            Map<String, AccountPoint> chosen = new HashMap<>();
            // Older class files need not say which types their locals have.
            if (version < Opcodes.V1_6) throw different("class file version " + version);
            for (AccountPoint point : points) {
                String method = point.method() + point.descriptor();
                if (!access.containsKey(method)) continue;
                if ((access.get(method) & UNSUITABLE) != 0) throw different(point.method() + " has no body to wrap");
                String field = point.field();
                if (field != null && !point.fieldType().equals(fields.get(field)))
                    throw different("no field " + field + " of type " + point.fieldType());
                chosen.put(method, point);
            }
            for (AccountPoint point : points) {
                if (chosen.values().stream().noneMatch(c -> c.method().equals(point.method())))
                    throw different("no method " + point.method() + point.descriptor());
            }
            return chosen;
        }

        private FeatureException different(String how) {
            return new FeatureException(name.replace('/', '.') + " is not as expected: " + how);
        }
    }

    /** Wraps a method. */
    private static final class Wrapper extends MethodVisitor {
        private final AccountPoint point;
        /** The variable of the section, which follows all others. */
        private final int variable;

        private final Label start = new Label();
        private final Label end = new Label();

        Wrapper(MethodVisitor next, AccountPoint point, int maxLocals) {
            super(API, next);
            this.point = point;
            this.variable = maxLocals;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitIntInsn(Opcodes.BIPUSH, point.number());
            super.visitVarInsn(Opcodes.ALOAD, 0);
            if (point.field() == null) {
                super.visitVarInsn(Opcodes.ALOAD, 1);
            } else {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitFieldInsn(Opcodes.GETFIELD, point.owner(), point.field(), point.fieldType());
            }
            String type = "(ILjava/lang/Object;Ljava/lang/Object;)L" + SECTION + ";";
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "enter", type, false);
            super.visitVarInsn(Opcodes.ASTORE, variable);
            super.visitLabel(start);
        }

        @Override
        public void visitFrame(int type, int localCount, Object[] locals, int stackCount, Object[] stack) {
            Object[] all = new Object[variable + 1];
            int used = 0;
            int slots = 0;
            for (; used < localCount; used++) {
                all[used] = locals[used];
                slots += locals[used] == Opcodes.LONG || locals[used] == Opcodes.DOUBLE ? 2 : 1;
            }
            for (; slots < variable; slots++) all[used++] = Opcodes.TOP;
            all[used++] = SECTION;
            super.visitFrame(Opcodes.F_NEW, used, all, stackCount, stack);
        }

        @Override
        public void visitInsn(int opcode) {
            // The hook throws nothing, so no section is closed twice.
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) exit();
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            super.visitLabel(end);
            // Last, so that the handlers of the method itself come first.
            super.visitTryCatchBlock(start, end, end, null);
            Object[] locals = Collections.nCopies(variable + 1, Opcodes.TOP).toArray();
            locals[variable] = SECTION;
            super.visitFrame(Opcodes.F_NEW, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
            exit();
            super.visitInsn(Opcodes.ATHROW);
            super.visitMaxs(maxStack, maxLocals);
        }

        private void exit() {
            super.visitVarInsn(Opcodes.ALOAD, variable);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "exit", "(L" + SECTION + ";)V", false);
        }
    }
}
