/**
 * Bytes and texts of the protocol, read within bounds.
 *
 * <p>This package is no part of the interface of the library: it may change without notice.
 */
package assay.appcheck.wire;
