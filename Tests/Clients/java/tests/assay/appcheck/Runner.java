package assay.appcheck;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;

/** Runs the public static methods of the classes that are named, or single ones ({@code Class.method}), and tells what became of each. */
public final class Runner {
    private static final long LIMIT_MILLIS = 120_000;
    private static final BufferedReader ANSWERS =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Runner() {}

    /** Has the program that started this one do something, and waits until it is done. */
    static String ask(String what) throws IOException {
        System.out.println("ask " + what);
        System.out.flush();
        return ANSWERS.readLine();
    }

    /** A setting of the program that started this one. */
    static String setting(String name) {
        String value = System.getProperty("assay." + name);
        Checks.that(value != null, "the setting " + name + " is missing");
        return value;
    }

    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            String name = argument.split("\\.")[0];
            Method[] methods = Class.forName("assay.appcheck." + name).getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                int modifiers = method.getModifiers();
                boolean isTest = Modifier.isPublic(modifiers) && Modifier.isStatic(modifiers) && method.getParameterCount() == 0;
                String whole = name + "." + method.getName();
                if (isTest && (argument.equals(name) || argument.equals(whole))) run(whole, method);
            }
        }
        System.out.println("done");
        System.out.flush();
        System.exit(0);
    }

    private static void run(String name, Method method) throws InterruptedException {
        Throwable[] failure = new Throwable[1];
        Thread thread = new Thread(() -> {
            try {
                method.invoke(null);
            } catch (InvocationTargetException failed) {
                failure[0] = failed.getCause();
            } catch (IllegalAccessException failed) {
                failure[0] = failed;
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        thread.join(LIMIT_MILLIS);
        if (thread.isAlive()) {
            for (Map.Entry<Thread, StackTraceElement[]> one : Thread.getAllStackTraces().entrySet()) {
                System.err.println(one.getKey() + " " + Arrays.toString(one.getValue()));
            }
            failure[0] = new AssertionError("it does not end");
        }
        if (failure[0] == null) {
            System.out.println("ok " + name);
        } else {
            failure[0].printStackTrace();
            System.out.println("failed " + name + " " + failure[0].toString().replace('\n', ' '));
        }
        System.out.flush();
    }
}
