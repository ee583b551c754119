package assay.appcheck;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;

/** Runs one piece of work after the other on an executor that may have several threads. */
final class SerialExecutor implements Executor {
    private final Executor executor;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean isRunning;

    SerialExecutor(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable work) {
        synchronized (this) {
            waiting.add(work);
            if (isRunning) return;
            isRunning = true;
        }
        try {
            executor.execute(this::run);
        } catch (RuntimeException rejected) {
            synchronized (this) {
                waiting.clear();
                isRunning = false;
            }
            throw rejected;
        }
    }

    private void run() {
        while (true) {
            Runnable work;
            synchronized (this) {
                work = waiting.poll();
                isRunning = work != null;
            }
            if (work == null) return;
            try {
                work.run();
            } catch (RuntimeException failure) {
                Thread thread = Thread.currentThread();
                thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
            }
        }
    }
}
