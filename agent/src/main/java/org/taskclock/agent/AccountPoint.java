// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.taskclock.CpuAccounts;

/**
 * A method of a program whose CPU time counts for an account: who calls it, and for what, is known when it is called.
 * To find accounts elsewhere, add a point here.
 *
 * @param number the position in {@link #ALL}
 * @param type the type of the accounts, which is also the value of the option that selects the point
 * @param owner the internal name of the class
 * @param field the field of the class that names the account; null for the first argument of the method
 * @param fieldType the descriptor of the field
 */
record AccountPoint(
        int number,
        String type,
        String owner,
        String method,
        String descriptor,
        String field,
        String fieldType,
        Naming naming)
        implements BiFunction<Object, Object, AutoCloseable> {
    /** Finds the name of an account. */
    interface Naming {
        /**
         * Returns the name, or null for no account.
         *
         * @param self the object that the method was called on
         * @param argument its first argument, or the value of the field
         */
        String name(Object self, Object argument) throws ReflectiveOperationException;
    }

    static final String ENDPOINT = "endpoint";
    static final String TOPIC = "topic";

    static final List<AccountPoint> ALL = all();

    private static List<AccountPoint> all() {
        List<AccountPoint> points = new ArrayList<>();
        addServlets(points, "jakarta/servlet");
        addServlets(points, "javax/servlet");
        addGrpc(points);
        // The other loop, over the result of KafkaConsumer.poll, is the program's own. Nothing there ends a record.
        String record = "(Lorg/apache/kafka/clients/consumer/ConsumerRecord;)V";
        String container = "org/springframework/kafka/listener/KafkaMessageListenerContainer$ListenerConsumer";
        ProgramMethod topic = new ProgramMethod("org.apache.kafka.clients.consumer.ConsumerRecord", "topic");
        add(points, TOPIC, container, "invokeOnMessage", record, (self, r) -> (String) topic.call(r));
        return List.copyOf(points);
    }

    /** Adds the servlets of an API, and inside them the handlers of Spring MVC, which has a pattern for each. */
    private static void addServlets(List<AccountPoint> points, String api) {
        ServletNames names = new ServletNames(api.replace('/', '.'));
        String service = "(L" + api + "/ServletRequest;L" + api + "/ServletResponse;)V";
        add(points, ENDPOINT, api + "/http/HttpServlet", "service", service, names::ofServlet);
        String handle = "(L" + api + "/http/HttpServletRequest;L" + api
                + "/http/HttpServletResponse;Ljava/lang/Object;)" + "Lorg/springframework/web/servlet/ModelAndView;";
        for (String adapter : List.of(
                "mvc/method/AbstractHandlerMethodAdapter",
                "mvc/HttpRequestHandlerAdapter",
                "mvc/SimpleControllerHandlerAdapter",
                "function/support/HandlerFunctionAdapter"))
            add(points, ENDPOINT, "org/springframework/web/servlet/" + adapter, "handle", handle, names::ofHandler);
    }

    /** Adds the callbacks of gRPC servers: all that a call does in interceptors and in its method, it does in these. */
    private static void addGrpc(List<AccountPoint> points) {
        ProgramMethod descriptor = new ProgramMethod("io.grpc.ServerCall", "getMethodDescriptor");
        ProgramMethod name = new ProgramMethod("io.grpc.MethodDescriptor", "getFullMethodName");
        Naming naming = (self, call) -> (String) name.call(descriptor.call(call));
        String listener = "io/grpc/internal/ServerCallImpl$ServerStreamListenerImpl";
        String messages = "(Lio/grpc/internal/StreamListener$MessageProducer;)V";
        String call = "Lio/grpc/internal/ServerCallImpl;";
        addOfField(points, listener, "messagesAvailable", messages, call, naming);
        addOfField(points, listener, "halfClosed", "()V", call, naming);
        addOfField(points, listener, "closed", "(Lio/grpc/Status;)V", call, naming);
        addOfField(points, listener, "onReady", "()V", call, naming);
    }

    private static void add(
            List<AccountPoint> points, String type, String owner, String method, String descriptor, Naming naming) {
        points.add(new AccountPoint(points.size(), type, owner, method, descriptor, null, null, naming));
    }

    private static void addOfField(
            List<AccountPoint> points, String owner, String method, String descriptor, String call, Naming naming) {
        points.add(new AccountPoint(points.size(), ENDPOINT, owner, method, descriptor, "call", call, naming));
    }

    /** Opens a section. Called by the program's class. What this throws is counted, and the method goes on. */
    @Override
    public AutoCloseable apply(Object self, Object argument) {
        try {
            String name = naming.name(self, argument);
            return name == null ? null : CpuAccounts.type(type).of(name).enter();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
