package assay.appcheck.android;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import android.os.Build;
import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyProperties;
import android.security.keystore.StrongBoxUnavailableException;

import assay.appcheck.provider.KeyAttestor;
import assay.appcheck.provider.KeyAttestorException;
import assay.appcheck.provider.KeyAttestorException.Kind;

/** Android's key store: keys in the secure hardware of the device (Android 7 and later). */
public final class AndroidKeyStoreAttestor implements KeyAttestor {
    private static final String STORE = "AndroidKeyStore";
    private static final int ANDROID_9 = 28;
    private static final int ANDROID_13 = 33;

    private final boolean prefersStrongBox;

    /** Makes keys in the trusted execution environment. */
    public AndroidKeyStoreAttestor() {
        this(false);
    }

    /** @param prefersStrongBox whether keys are made in a chip of their own where there is one; it is slower */
    public AndroidKeyStoreAttestor(boolean prefersStrongBox) {
        this.prefersStrongBox = prefersStrongBox;
    }

    @Override
    public List<byte[]> generate(String alias, byte[] challenge) throws KeyAttestorException {
        try {
            if (!prefersStrongBox || Build.VERSION.SDK_INT < ANDROID_9) {
                make(alias, challenge, false);
            } else {
                makeInStrongBox(alias, challenge);
            }
            Certificate[] chain = store().getCertificateChain(alias);
            // A key store without attestation makes one certificate, which signs itself.
            if (chain == null || chain.length < 2) throw new KeyAttestorException(Kind.UNSUPPORTED, null);
            List<byte[]> encoded = new ArrayList<>();
            for (Certificate certificate : chain) encoded.add(certificate.getEncoded());
            return Collections.unmodifiableList(encoded);
        } catch (ProviderException failure) {
            // It is thrown for what passes, such as missing certificates of the device, and for what does not; which one differs
            // from maker to maker. Devices from Android 13 on have secure hardware, and so it passes there.
            throw new KeyAttestorException(Build.VERSION.SDK_INT >= ANDROID_13 ? Kind.TEMPORARY : Kind.FAILED, failure);
        } catch (GeneralSecurityException | IOException | IllegalStateException failure) {
            throw new KeyAttestorException(Kind.FAILED, failure);
        }
    }

    /** In a method of its own: Android before version 9 does not know the exception. */
    private static void makeInStrongBox(String alias, byte[] challenge) throws GeneralSecurityException {
        try {
            make(alias, challenge, true);
        } catch (StrongBoxUnavailableException missing) {
            make(alias, challenge, false);
        }
    }

    private static void make(String alias, byte[] challenge, boolean inStrongBox) throws GeneralSecurityException {
        KeyGenParameterSpec.Builder builder = new KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_SIGN)
            .setAlgorithmParameterSpec(new ECGenParameterSpec("secp256r1"))
            .setDigests(KeyProperties.DIGEST_SHA256)
            .setAttestationChallenge(challenge);
        if (inStrongBox) builder.setIsStrongBoxBacked(true);
        KeyPairGenerator generator = KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, STORE);
        generator.initialize(builder.build());
        generator.generateKeyPair();
    }

    @Override
    public byte[] sign(String alias, byte[] message) throws KeyAttestorException {
        try {
            Key key = store().getKey(alias, null);
            if (!(key instanceof PrivateKey)) throw new KeyAttestorException(Kind.KEY_LOST, null);
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign((PrivateKey) key);
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException | IOException failure) {
            // Such as a key that the system has invalidated.
            throw new KeyAttestorException(Kind.KEY_LOST, failure);
        } catch (ProviderException | IllegalStateException failure) {
            throw new KeyAttestorException(Kind.TEMPORARY, failure);
        }
    }

    @Override
    public void delete(String alias) {
        try {
            store().deleteEntry(alias);
        } catch (GeneralSecurityException | IOException | RuntimeException failure) {
            // It is one key more on the device.
        }
    }

    @Override
    public String deviceState() {
        return Build.VERSION.SDK_INT + " " + Build.VERSION.SECURITY_PATCH;
    }

    private static KeyStore store() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(STORE);
        store.load(null);
        return store;
    }
}
