/**
 * App Check tokens in an Android app or a Java program: fetched with evidence, kept, renewed in time.
 *
 * <p>Begin with {@link assay.appcheck.AssayAppCheck}.
 */
package assay.appcheck;
