ARG RUST_IMAGE=rust:1.95-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${RUST_IMAGE} AS builder
WORKDIR /build

# The dependencies alone, with empty sources in place of all that the manifest names: a layer that stays until they change.
COPY Cargo.toml Cargo.lock ./
COPY migrations/build.rs migrations/build.rs
RUN mkdir src benches \
    && printf '//! Stand-in.\n' > src/lib.rs \
    && printf '//! Stand-in.\nfn main() {}\n' | tee src/main.rs > benches/live.rs \
    && cargo build --release --locked

COPY migrations migrations
COPY src src
# Cargo goes by times, and the copied files are older than what was just built from the stand-ins.
RUN touch migrations/build.rs src/lib.rs src/main.rs \
    && cargo build --release --locked

FROM ${DEBIAN_IMAGE}

RUN groupadd --gid 10001 tasklane \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/tasklane --shell /usr/sbin/nologin tasklane \
    && install --directory --owner=tasklane --group=tasklane --mode=0750 /var/lib/tasklane

COPY --from=builder /build/target/release/tasklane /usr/local/bin/tasklane

# There is no authentication yet, so the service refuses this address until whoever runs the image says, with
# TASKLANE_INSECURE_NO_AUTH=true, that only trusted callers can reach it. That is not for the image to say.
ENV TASKLANE_LISTEN=0.0.0.0:8080 \
    DATABASE_URL=sqlite:///var/lib/tasklane/tasklane.db

# By number, so that an orchestrator can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/tasklane
VOLUME /var/lib/tasklane
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["tasklane", "healthcheck"]
ENTRYPOINT ["tasklane"]
