package com.google.firebase.appcheck;

import com.google.firebase.FirebaseApp;

/** Firebase's interface. */
public interface AppCheckProviderFactory {
    AppCheckProvider create(FirebaseApp firebaseApp);
}
