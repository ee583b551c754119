/** Calls of backends with a token, and with proofs. */
package assay.appcheck.calls;
