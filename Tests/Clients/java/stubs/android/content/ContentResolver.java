package android.content;

/** What the library uses of Android's class. */
public abstract class ContentResolver {}
