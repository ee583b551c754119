/** Requests over HTTP: one interface, and its form by {@code HttpURLConnection}. */
package assay.appcheck.transport;
