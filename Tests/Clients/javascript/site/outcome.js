/** What became of a promise, in a form that leaves the page. */
globalThis.outcome = async promise => {
  try {
    return { value: await promise };
  } catch (error) {
    return { code: error.code, message: error.message, status: error.status, decision: error.decision, retryAfterMillis: error.retryAfterMillis };
  }
};
