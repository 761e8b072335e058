// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import io.smallrye.mutiny.infrastructure.CallbackDecorator;
import io.smallrye.mutiny.tuples.Functions;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Runs each function that is passed to a Mutiny operator in the {@link AccountContext} that was current when it was
 * passed, on whatever thread the operator calls it. Mutiny finds this class as a service:
 *
 * <pre>{@code
 * try (var scope = AccountContext.current().with(account).enter()) {
 *     return Uni.createFrom().item(this::query).runSubscriptionOn(pool).map(this::price);   // both count
 * }
 * }</pre>
 *
 * <p>So the account counts the functions of a pipeline that is assembled in its context, but neither Mutiny's own code
 * between them nor functions that a caller adds to the pipeline later. Functions that are passed in no context are not
 * decorated and cost nothing.
 */
@SuppressWarnings("try") // the scopes only need to be open
public final class MutinyAccounts implements CallbackDecorator {
    /** Creates the decorator. */
    public MutinyAccounts() {}

    @Override
    public <T> Supplier<T> decorate(Supplier<T> supplier) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return supplier;
        return () -> {
            try (AccountScope scope = context.enter()) {
                return supplier.get();
            }
        };
    }

    @Override
    public <T> Consumer<T> decorate(Consumer<T> consumer) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return consumer;
        return a -> {
            try (AccountScope scope = context.enter()) {
                consumer.accept(a);
            }
        };
    }

    @Override
    public LongConsumer decorate(LongConsumer consumer) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return consumer;
        return a -> {
            try (AccountScope scope = context.enter()) {
                consumer.accept(a);
            }
        };
    }

    @Override
    public <R> LongFunction<R> decorate(LongFunction<R> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return a -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a);
            }
        };
    }

    @Override
    public Runnable decorate(Runnable task) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return task;
        return () -> {
            try (AccountScope scope = context.enter()) {
                task.run();
            }
        };
    }

    @Override
    public <V> Callable<V> decorate(Callable<V> task) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return task;
        return () -> {
            try (AccountScope scope = context.enter()) {
                return task.call();
            }
        };
    }

    @Override
    public <T1, T2> BiConsumer<T1, T2> decorate(BiConsumer<T1, T2> consumer) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return consumer;
        return (a, b) -> {
            try (AccountScope scope = context.enter()) {
                consumer.accept(a, b);
            }
        };
    }

    @Override
    public <I, O> Function<I, O> decorate(Function<I, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return a -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a);
            }
        };
    }

    @Override
    public <I1, I2, I3, O> Functions.Function3<I1, I2, I3, O> decorate(Functions.Function3<I1, I2, I3, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, O> Functions.Function4<I1, I2, I3, I4, O> decorate(
            Functions.Function4<I1, I2, I3, I4, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, I5, O> Functions.Function5<I1, I2, I3, I4, I5, O> decorate(
            Functions.Function5<I1, I2, I3, I4, I5, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d, e) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d, e);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, I5, I6, O> Functions.Function6<I1, I2, I3, I4, I5, I6, O> decorate(
            Functions.Function6<I1, I2, I3, I4, I5, I6, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d, e, f) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d, e, f);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, I5, I6, I7, O> Functions.Function7<I1, I2, I3, I4, I5, I6, I7, O> decorate(
            Functions.Function7<I1, I2, I3, I4, I5, I6, I7, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d, e, f, g) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d, e, f, g);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, I5, I6, I7, I8, O> Functions.Function8<I1, I2, I3, I4, I5, I6, I7, I8, O> decorate(
            Functions.Function8<I1, I2, I3, I4, I5, I6, I7, I8, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d, e, f, g, h) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d, e, f, g, h);
            }
        };
    }

    @Override
    public <I1, I2, I3, I4, I5, I6, I7, I8, I9, O> Functions.Function9<I1, I2, I3, I4, I5, I6, I7, I8, I9, O> decorate(
            Functions.Function9<I1, I2, I3, I4, I5, I6, I7, I8, I9, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b, c, d, e, f, g, h, i) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b, c, d, e, f, g, h, i);
            }
        };
    }

    @Override
    public <I1, I2, O> BiFunction<I1, I2, O> decorate(BiFunction<I1, I2, O> function) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return function;
        return (a, b) -> {
            try (AccountScope scope = context.enter()) {
                return function.apply(a, b);
            }
        };
    }

    @Override
    public <T> BinaryOperator<T> decorate(BinaryOperator<T> operator) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return operator;
        return (a, b) -> {
            try (AccountScope scope = context.enter()) {
                return operator.apply(a, b);
            }
        };
    }

    @Override
    public <T1, T2, T3> Functions.TriConsumer<T1, T2, T3> decorate(Functions.TriConsumer<T1, T2, T3> consumer) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return consumer;
        return (a, b, c) -> {
            try (AccountScope scope = context.enter()) {
                consumer.accept(a, b, c);
            }
        };
    }

    @Override
    public BooleanSupplier decorate(BooleanSupplier supplier) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return supplier;
        return () -> {
            try (AccountScope scope = context.enter()) {
                return supplier.getAsBoolean();
            }
        };
    }

    @Override
    public <T> Predicate<T> decorate(Predicate<T> predicate) {
        AccountContext context = AccountContext.current();
        if (context == AccountContext.EMPTY) return predicate;
        return a -> {
            try (AccountScope scope = context.enter()) {
                return predicate.test(a);
            }
        };
    }
}
