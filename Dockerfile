# syntax=docker/dockerfile:1
# Built once for every platform: nothing in it is native, and the last stage only copies.
FROM --platform=$BUILDPLATFORM docker.io/library/node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
# The parts list is made last: with `--omit dev` npm leaves out what development needs as well.
RUN npm run build && npm prune --omit=dev --ignore-scripts && npm pkg delete devDependencies overrides \
    && npm sbom --sbom-format cyclonedx > sbom.cdx.json
# Folders that belong to the user of the last stage, who cannot make them.
RUN mkdir -p /volumes/rules /volumes/config /volumes/cache && chown -R 65532:65532 /volumes

FROM gcr.io/distroless/nodejs24-debian13:nonroot
LABEL org.opencontainers.image.title="rules-compiler" \
      org.opencontainers.image.description="Compiles DNS blocklists: many lists in, one list out, and every line accounted for" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /app/package.json /app/sbom.cdx.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
COPY --from=build --chown=65532:65532 /volumes/ /
ENV NODE_ENV=production \
    CONFIG_PATH=/config/compiler-config.json \
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
