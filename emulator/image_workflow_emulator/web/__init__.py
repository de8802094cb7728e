"""The service over HTTP: `/v1`, and the two byte surfaces that its links lead to."""
