package com.google.android.gms.tasks;

import java.util.concurrent.CompletableFuture;

/** Google's class, as far as a test looks into it. */
public class Task<T> {
    final CompletableFuture<T> future = new CompletableFuture<>();

    public T await() throws Exception {
        return future.get();
    }
}
