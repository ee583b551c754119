/** Where a token, the name of a key and its artifact are kept. */
package assay.appcheck.storage;
