package assay.appcheck.firebase;

import com.google.firebase.appcheck.AppCheckToken;

/** A token as Firebase's SDK reads it. */
final class FirebaseToken extends AppCheckToken {
    private final String text;
    private final long expireTimeMillis;

    /** @param millisLeft counts from now, by the time of day, which Firebase's SDK compares with: it may be wrong, too */
    FirebaseToken(String text, long millisLeft) {
        this.text = text;
        expireTimeMillis = System.currentTimeMillis() + millisLeft;
    }

    @Override
    public String getToken() {
        return text;
    }

    @Override
    public long getExpireTimeMillis() {
        return expireTimeMillis;
    }
}
