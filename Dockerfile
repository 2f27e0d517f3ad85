# syntax=docker/dockerfile:1.26.0@sha256:ecfaec9ed6d810b56388c508f4121597bfbba70d41a6dfeee4d8cad5f295fc32
# Bases by digest: the same Dockerfile builds the same image. RELEASING.md says how they are renewed.
ARG BUILD_IMAGE=docker.io/library/node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
ARG RUN_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e
# Built once for every platform: nothing in it is native, and the last stage only copies.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.ts ./scripts/
COPY src ./src
# The parts list is made last: with `--omit dev` npm leaves out what development needs as well.
RUN npm run build && npm prune --omit=dev --ignore-scripts && npm pkg delete devDependencies overrides \
    && npm sbom --sbom-format cyclonedx > sbom.cdx.json
# Folders that belong to the user of the last stage, who cannot make them.
RUN mkdir -p /volumes/rules /volumes/config /volumes/cache && chown -R 65532:65532 /volumes

FROM ${RUN_IMAGE}
LABEL org.opencontainers.image.title="rules-compiler" \
      org.opencontainers.image.description="Compiles DNS blocklists: many lists in, one list out, and every line accounted for" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /app/package.json /app/sbom.cdx.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY --from=build --chown=65532:65532 /volumes/ /
ENV NODE_ENV=production \
    CONFIG_PATH=/config \
    RULES_DIR=/rules \
    XDG_CACHE_HOME=/cache
WORKDIR /rules
USER 65532
EXPOSE 5000
VOLUME ["/rules", "/config", "/cache"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=10s --start-period=120s --retries=3 CMD ["/nodejs/bin/node", "/app/dist/cli/bin.js", "health"]
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/cli/bin.js"]
CMD ["serve", "--listen", "0.0.0.0"]
