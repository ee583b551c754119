package com.google.firebase.appcheck;

import com.google.android.gms.tasks.Task;

/** Firebase's interface, version 19.1. */
public interface AppCheckProvider {
    Task<AppCheckToken> getToken();

    default Task<AppCheckToken> getLimitedUseToken() {
        return getToken();
    }
}
