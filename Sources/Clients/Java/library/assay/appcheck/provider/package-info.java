/** What makes evidence and exchanges it for tokens. An app may bring a provider of its own. */
package assay.appcheck.provider;
