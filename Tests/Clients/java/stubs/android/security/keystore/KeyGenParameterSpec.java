package android.security.keystore;

import java.security.spec.AlgorithmParameterSpec;

/** What the library uses of Android's class. */
public final class KeyGenParameterSpec implements AlgorithmParameterSpec {
    private final Builder builder;

    private KeyGenParameterSpec(Builder builder) {
        this.builder = builder;
    }

    public String getKeystoreAlias() {
        return builder.alias;
    }

    public int getPurposes() {
        return builder.purposes;
    }

    public byte[] getAttestationChallenge() {
        return builder.challenge;
    }

    public boolean isStrongBoxBacked() {
        return builder.isStrongBoxBacked;
    }

    public static final class Builder {
        private final String alias;
        private final int purposes;
        private byte[] challenge;
        private boolean isStrongBoxBacked;

        public Builder(String keystoreAlias, int purposes) {
            alias = keystoreAlias;
            this.purposes = purposes;
        }

        public Builder setAlgorithmParameterSpec(AlgorithmParameterSpec spec) {
            return this;
        }

        public Builder setDigests(String... digests) {
            return this;
        }

        public Builder setAttestationChallenge(byte[] attestationChallenge) {
            challenge = attestationChallenge.clone();
            return this;
        }

        public Builder setIsStrongBoxBacked(boolean isStrongBoxBacked) {
            this.isStrongBoxBacked = isStrongBoxBacked;
            return this;
        }

        public KeyGenParameterSpec build() {
            return new KeyGenParameterSpec(this);
        }
    }
}
