package android.content;

/** What the library uses of Android's class. */
public abstract class Context {
    public static final int MODE_PRIVATE = 0;

    public abstract SharedPreferences getSharedPreferences(String name, int mode);

    public abstract ContentResolver getContentResolver();
}
