package com.google.android.gms.tasks;

/** What the library uses of Google's class. */
public class TaskCompletionSource<T> {
    private final Task<T> task = new Task<>();

    public void setResult(T result) {
        task.future.complete(result);
    }

    public void setException(Exception e) {
        task.future.completeExceptionally(e);
    }

    public Task<T> getTask() {
        return task;
    }
}
