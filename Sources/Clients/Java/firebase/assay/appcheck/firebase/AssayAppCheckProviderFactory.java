package assay.appcheck.firebase;

import com.google.firebase.FirebaseApp;
import com.google.firebase.appcheck.AppCheckProvider;
import com.google.firebase.appcheck.AppCheckProviderFactory;

import assay.appcheck.AssayAppCheck;

/**
 * Installs an {@link AssayAppCheck} into Firebase's SDK.
 *
 * <pre>{@code
 * FirebaseAppCheck.getInstance().installAppCheckProviderFactory(new AssayAppCheckProviderFactory(appCheck));
 * }</pre>
 */
public final class AssayAppCheckProviderFactory implements AppCheckProviderFactory {
    private final AssayAppCheck appCheck;

    /** @param appCheck is one of the app that Firebase is set up for */
    public AssayAppCheckProviderFactory(AssayAppCheck appCheck) {
        this.appCheck = appCheck;
    }

    @Override
    public AppCheckProvider create(FirebaseApp firebaseApp) {
        return new AssayAppCheckProvider(appCheck);
    }
}
