# Every image is a target: docker build --target gateway --tag tollgate-gateway .
# The base image serves to build; of it, images get Node.js and its libraries (docs/design/building.md).
ARG NODE_IMAGE=node:26.10.0-slim

# Only the files that decide what gets installed, so that the next stage's install stays cached until one changes.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /src
COPY . .
RUN mkdir /manifests && find . -name package.json -exec cp --parents {} /manifests/ ';' && \
  cp pnpm-lock.yaml pnpm-workspace.yaml .npmrc /manifests/

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY --from=manifests /manifests ./
# No install scripts: what is bundled needs none.
RUN npx --yes pnpm@12.21.0 install --frozen-lockfile --ignore-scripts --prod \
  --filter-prod @tollgate/account... --filter-prod @tollgate/auth... --filter-prod @tollgate/gateway... \
  --filter-prod @tollgate/sample-upstream... --filter-prod @tollgate/images... --filter-prod @tollgate/command... \
  --filter-prod @tollgate/console --filter-prod @tollgate/docs...
COPY . .

FROM ${NODE_IMAGE} AS runtime-files
COPY tools/images/src/build /build
RUN node /build/runtime-files.ts /files

FROM build AS gateway-files
RUN node tools/images/src/build/image-files.ts gateway /files
FROM build AS auth-files
RUN node tools/images/src/build/image-files.ts auth /files
FROM build AS account-files
RUN node tools/images/src/build/image-files.ts account /files
FROM build AS sample-upstream-files
RUN node tools/images/src/build/image-files.ts sample-upstream /files
FROM build AS compose-files
RUN node tools/images/src/build/image-files.ts compose /files

# What all images have in common. Nothing below runs a command: there is no shell that could. Health checks don't use
# `fetch`, which takes twice the CPU time of all else in them.
FROM scratch AS runtime
COPY --from=runtime-files /files/ /
ARG REVISION=unknown
LABEL org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin NODE_ENV=production
USER 1000:1000
STOPSIGNAL SIGTERM

FROM runtime AS gateway
COPY --from=gateway-files /files/ /
WORKDIR /app
LABEL org.opencontainers.image.title="Tollgate gateway" \
  org.opencontainers.image.description="Checks every call, forwards it, meters it and holds it to the plan"
ENV PUBLIC_PORT=4000 PRIVATE_PORT=4100
EXPOSE 4000 4100
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", "require('http').get('http://127.0.0.1:' + process.env.PRIVATE_PORT + '/health/ready', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=32", "--single-threaded-gc", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "/app/main.mjs"]

FROM runtime AS auth
COPY --from=auth-files /files/ /
WORKDIR /app
LABEL org.opencontainers.image.title="Tollgate auth" \
  org.opencontainers.image.description="Issues, introspects and revokes access tokens"
ENV PUBLIC_PORT=4001 PRIVATE_PORT=4101
EXPOSE 4001 4101
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", "require('http').get('http://127.0.0.1:' + process.env.PRIVATE_PORT + '/health/ready', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=32", "--single-threaded-gc", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "/app/main.mjs"]

FROM runtime AS account
COPY --from=account-files /files/ /
WORKDIR /app
LABEL org.opencontainers.image.title="Tollgate account" \
  org.opencontainers.image.description="Applications, teams, plans, billing periods and usage; the operators' command"
ENV PUBLIC_PORT=4002 PRIVATE_PORT=4102 CONSOLE_DIR=/app/console DOCS_DIR=/app/docs TOLLGATE_URL=http://127.0.0.1:4102
EXPOSE 4002 4102
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", "require('http').get('http://127.0.0.1:' + process.env.PRIVATE_PORT + '/health/ready', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=32", "--single-threaded-gc", "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "/app/main.mjs"]

FROM runtime AS sample-upstream
COPY --from=sample-upstream-files /files/ /
WORKDIR /app
LABEL org.opencontainers.image.title="Tollgate sample upstream" \
  org.opencontainers.image.description="A GraphQL data API to play with: the countries of the world, priced in points"
ENV HOST=0.0.0.0 PORT=4003
EXPOSE 4003
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", "require('http').get('http://127.0.0.1:' + process.env.PORT + '/health', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "/app/main.mjs"]

FROM runtime AS compose
COPY --from=compose-files /files/ /
COPY --from=compose-files --chown=1000:1000 /files-owned/ /
WORKDIR /app
LABEL org.opencontainers.image.title="Tollgate compose" \
  org.opencontainers.image.description="Makes the secrets of docker-compose.yml, and shows the sample's"
# Its programs end by themselves.
HEALTHCHECK NONE
CMD ["node", "--enable-source-maps", "/app/secrets.mjs"]
