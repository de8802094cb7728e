# The wheel and all it depends on are installed in the first stage; the second carries the result and nothing else.
#
#   docker build -t image-workflow-emulator .
#   docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:8038:8038 image-workflow-emulator serve --clock auto
#
# What follows the image's name is a command of image-workflow-emulator, `serve` if there is none; its options can be
# given as EMULATOR_... variables too.

# A build that must be repeatable to the byte pins the base by its digest; docs/set-ups.md says how to find it.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv /opt/emulator \
 && python -m venv /opt/tools
COPY requirements/runtime.lock requirements/build.lock requirements/
RUN /opt/emulator/bin/pip install --only-binary=:all: --require-hashes -r requirements/runtime.lock \
 && /opt/tools/bin/pip install --only-binary=:all: --require-hashes -r requirements/build.lock
COPY . .
RUN /opt/tools/bin/python -m hatchling build -t wheel -d /build/dist \
 && /opt/emulator/bin/pip install --no-deps --no-index /build/dist/*.whl \
 && /opt/emulator/bin/pip uninstall --yes pip

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="Image Workflow Emulator" \
      org.opencontainers.image.description="A local, deterministic emulator of the Image Workflow Service API v1." \
      org.opencontainers.image.licenses="MIT"
# The base comes without the compiled form of the standard library, and at run time nothing can be written: every start,
# and every look at the health, would compile it anew.
RUN python -m compileall -q --invalidation-mode unchecked-hash "$(python -c 'import os; print(os.path.dirname(os.__file__))')"
COPY --from=build /opt/emulator /opt/emulator
ENV PATH=/opt/emulator/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MALLOC_ARENA_MAX=2 \
    EMULATOR_HOST=0.0.0.0
USER 65532:65532
WORKDIR /tmp
EXPOSE 8038
# Asks the port of EMULATOR_PORT; the first look comes early, so that whoever waits for "healthy" waits less than 2 s.
HEALTHCHECK --interval=1500ms --timeout=5s --start-period=5s --retries=3 CMD ["image-workflow-emulator", "wait", "--timeout", "2"]
ENTRYPOINT ["image-workflow-emulator"]
CMD ["serve"]
