package android.security.keystore;

import java.security.ProviderException;

/** Android's class. */
public class StrongBoxUnavailableException extends ProviderException {}
