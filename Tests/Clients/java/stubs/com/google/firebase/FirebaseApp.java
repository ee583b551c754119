package com.google.firebase;

/** What the library uses of Firebase's class. */
public class FirebaseApp {}
