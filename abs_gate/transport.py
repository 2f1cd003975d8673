"""The only importer of requests: timeouts, safe retries, redaction, recording."""
