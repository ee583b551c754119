package com.google.firebase.appcheck;

/** What the library uses of Firebase's class. */
public abstract class AppCheckToken {
    public abstract String getToken();

    public abstract long getExpireTimeMillis();
}
