package assay.appcheck.provider;

import assay.appcheck.AppCheckException;

/**
 * Makes evidence and exchanges it for a token: {@link AndroidKey}, {@link PlayIntegrity}, {@link DebugTokens},
 * {@link CustomTokens}, or what an app has of its own.
 *
 * <p>What an implementation must keep:
 *
 * <ul>
 *   <li>A token is for {@link TokenRequest#isLimitedUse()}: one that is must not be kept or given twice.
 *   <li>It is called by one thread at a time, which the library owns, and which is interrupted when it takes too long.
 *   <li>It throws an {@link AppCheckException} where it knows what to do about the failure, with {@code retryAfterMillis} to say
 *       when to come back. After any other exception the next call asks it again.
 * </ul>
 *
 * <p>A provider for a method that a plugin of the server adds:
 *
 * <pre>{@code
 * TokenProvider doorLock = request -> {
 *     byte[] challenge = request.service().challenge("generateDoorLockChallenge");
 *     Map<String, Object> body = Collections.singletonMap("code", lock.sign(challenge));
 *     return request.service().exchange("exchangeDoorLockCode", body, request.isLimitedUse());
 * };
 * }</pre>
 */
public interface TokenProvider {
    /** A new token. */
    IssuedToken fetch(TokenRequest request) throws Exception;
}
