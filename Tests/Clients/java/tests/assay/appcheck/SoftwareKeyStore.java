package assay.appcheck;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.KeyStoreSpi;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.ProviderException;
import java.security.SecureRandom;
import java.security.Security;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import android.security.keystore.KeyGenParameterSpec;
import android.security.keystore.KeyProperties;
import android.security.keystore.StrongBoxUnavailableException;

import assay.appcheck.wire.Bytes;

/** A security provider with the name of Android's key store, whose keys an authority of the tests certifies. */
public final class SoftwareKeyStore extends Provider {
    private static final long serialVersionUID = 1;

    /** A key with its certificates. */
    private static final class Entry {
        final PrivateKey key;
        final Certificate[] chain;

        Entry(PrivateKey key, Certificate[] chain) {
            this.key = key;
            this.chain = chain;
        }
    }

    static final Map<String, Entry> ENTRIES = new ConcurrentHashMap<>();
    static final AtomicInteger MADE = new AtomicInteger();
    /** What the device says of itself, and how it fails. */
    static volatile boolean isLocked = true;
    static volatile boolean hasStrongBox;
    static volatile RuntimeException failure;
    private static PrivateKey attester;
    private static Certificate[] chain;

    private SoftwareKeyStore() {
        super("AndroidKeyStore", "1", "a key store of tests");
        put("KeyPairGenerator.EC", Generator.class.getName());
        put("KeyStore.AndroidKeyStore", Store.class.getName());
    }

    /**
     * Installs it, as a new device.
     *
     * @param authority a folder with {@code attester.der}, a key in PKCS #8, and {@code chain.pem}
     */
    static synchronized void install(File authority) throws Exception {
        attester = KeyFactory.getInstance("EC").generatePrivate(
            new PKCS8EncodedKeySpec(Files.readAllBytes(new File(authority, "attester.der").toPath())));
        try (InputStream input = Files.newInputStream(new File(authority, "chain.pem").toPath())) {
            Collection<? extends Certificate> certificates = CertificateFactory.getInstance("X.509").generateCertificates(input);
            chain = certificates.toArray(new Certificate[0]);
        }
        ENTRIES.clear();
        isLocked = true;
        hasStrongBox = false;
        failure = null;
        if (Security.getProvider("AndroidKeyStore") == null) Security.addProvider(new SoftwareKeyStore());
    }

    /** Makes keys. */
    public static final class Generator extends KeyPairGeneratorSpi {
        private KeyGenParameterSpec spec;

        @Override
        public void initialize(int size, SecureRandom random) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void initialize(AlgorithmParameterSpec params, SecureRandom random) throws InvalidAlgorithmParameterException {
            spec = (KeyGenParameterSpec) params;
            if (spec.getPurposes() != KeyProperties.PURPOSE_SIGN) throw new InvalidAlgorithmParameterException();
        }

        @Override
        public KeyPair generateKeyPair() {
            if (failure != null) throw failure;
            if (spec.isStrongBoxBacked() && !hasStrongBox) throw new StrongBoxUnavailableException();
            try {
                KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", "SunEC");
                generator.initialize(new ECGenParameterSpec("secp256r1"));
                KeyPair pair = generator.generateKeyPair();
                List<Certificate> certificates = new ArrayList<>();
                certificates.add(certificate(pair, spec.getAttestationChallenge()));
                Collections.addAll(certificates, chain);
                ENTRIES.put(spec.getKeystoreAlias(), new Entry(pair.getPrivate(), certificates.toArray(new Certificate[0])));
                MADE.incrementAndGet();
                return pair;
            } catch (GeneralSecurityException failed) {
                throw new ProviderException(failed);
            }
        }
    }

    // The certificate of a key

    private static final byte[] ECDSA_SHA256 = Der.sequence(Der.identifier("2A8648CE3D040302"));

    private static Certificate certificate(KeyPair pair, byte[] challenge) throws GeneralSecurityException {
        byte[] name = Der.sequence(Der.set(Der.sequence(
            Der.identifier("550403"), Der.value(0x0C, Bytes.utf8("Android Keystore Key")))));
        byte[] validity = Der.sequence(
            Der.value(0x17, Bytes.utf8("700101000000Z")), Der.value(0x17, Bytes.utf8("480101000000Z")));
        byte[] usage = Der.sequence(Der.identifier("551D0F"), Der.bool(true), Der.octets(Der.value(0x03, new byte[] {7, (byte) 0x80})));
        byte[] described = Der.sequence(Der.identifier("2B06010401D679020111"), Der.octets(description(challenge)));
        byte[] signed = Der.sequence(
            Der.context(0, Der.integer(2)), Der.integer(1), ECDSA_SHA256,
            ((X509Certificate) chain[0]).getSubjectX500Principal().getEncoded(), validity, name, pair.getPublic().getEncoded(),
            Der.context(3, Der.sequence(usage, described)));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(attester);
        signature.update(signed);
        byte[] der = Der.sequence(signed, ECDSA_SHA256, Der.bits(signature.sign()));
        return CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    /** The description of a key (Android, Key attestation). */
    private static byte[] description(byte[] challenge) {
        byte[] application = Der.sequence(
            Der.set(Der.sequence(Der.octets(Bytes.utf8("com.example.app")), Der.integer(42))),
            Der.set(Der.octets(Bytes.sha256(Bytes.utf8("the certificate of the app")))));
        byte[] boot = new byte[32];
        java.util.Arrays.fill(boot, (byte) 0xB0);
        byte[] root = Der.sequence(
            Der.octets(boot), Der.bool(isLocked), Der.enumerated(isLocked ? 0 : 2), Der.octets(boot));
        byte[] hardware = Bytes.join(
            Der.context(1, Der.set(Der.integer(2))), Der.context(2, Der.integer(3)), Der.context(3, Der.integer(256)),
            Der.context(5, Der.set(Der.integer(4))), Der.context(10, Der.integer(1)), Der.context(503, new byte[] {5, 0}),
            Der.context(702, Der.integer(0)), Der.context(704, root), Der.context(705, Der.integer(150_000)),
            Der.context(706, Der.integer(202_611)));
        byte[] software = Bytes.join(Der.context(701, Der.integer(1_764_000_000_000L)), Der.context(709, Der.octets(application)));
        return Der.sequence(
            Der.integer(300), Der.enumerated(1), Der.integer(300), Der.enumerated(1), Der.octets(challenge), Der.octets(new byte[0]),
            Der.sequence(software), Der.sequence(hardware));
    }

    /** Holds keys. */
    public static final class Store extends KeyStoreSpi {
        @Override
        public Key engineGetKey(String alias, char[] password) {
            Entry entry = ENTRIES.get(alias);
            return entry == null ? null : entry.key;
        }

        @Override
        public Certificate[] engineGetCertificateChain(String alias) {
            Entry entry = ENTRIES.get(alias);
            return entry == null ? null : entry.chain.clone();
        }

        @Override
        public void engineDeleteEntry(String alias) {
            ENTRIES.remove(alias);
        }

        @Override
        public void engineLoad(InputStream stream, char[] password) {}

        @Override
        public Enumeration<String> engineAliases() {
            return Collections.enumeration(ENTRIES.keySet());
        }

        @Override
        public boolean engineContainsAlias(String alias) {
            return ENTRIES.containsKey(alias);
        }

        @Override
        public int engineSize() {
            return ENTRIES.size();
        }

        @Override
        public boolean engineIsKeyEntry(String alias) {
            return ENTRIES.containsKey(alias);
        }

        @Override
        public boolean engineIsCertificateEntry(String alias) {
            return false;
        }

        @Override
        public Certificate engineGetCertificate(String alias) {
            Entry entry = ENTRIES.get(alias);
            return entry == null ? null : entry.chain[0];
        }

        @Override
        public String engineGetCertificateAlias(Certificate certificate) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Date engineGetCreationDate(String alias) {
            return new Date(0);
        }

        @Override
        public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineSetCertificateEntry(String alias, Certificate certificate) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void engineStore(OutputStream stream, char[] password) {
            throw new UnsupportedOperationException();
        }
    }
}
