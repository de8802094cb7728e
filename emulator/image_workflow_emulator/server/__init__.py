"""From bytes on a socket to a request, and from an answer to bytes: uvicorn's server, made lighter and more patient."""
