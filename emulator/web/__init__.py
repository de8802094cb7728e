"""The service over HTTP: the road of a request under `/v1`, and the two byte surfaces it hands out links to."""
