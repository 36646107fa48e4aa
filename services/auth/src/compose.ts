import type { HttpHandler, HttpRequest } from '@tollgate/plain-http/message';
import { keepEach } from '@tollgate/plain-http/repeated-heads';
import type { ComposeContext, Service } from '@tollgate/server';
import { openServiceTraces } from '@tollgate/trace/service-traces';
import type { ServiceTraces } from '@tollgate/trace/service-traces';
import { openAbuse } from './abuse/open.ts';
import { createPrivateApp, createPublicApp } from './app.ts';
import { openClients } from './client/open.ts';
import type { Config } from './config.ts';
import { createGrants } from './endpoints/token/grants/grants.ts';
import type { Handlers } from './http/direct-routes.ts';
import { openPlatform } from './platform/open.ts';
import { openRestore } from './restore/open.ts';
import { openTokens } from './token/open.ts';

/** Opens the domains in order, and closes them in reverse. */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, trusts } = context;
  const platform = await openPlatform(context);
  const traces = await openServiceTraces(config, platform.redis, logger);
  const abuse = openAbuse(platform);
  const client = openClients(platform, abuse);
  const { clients } = client.needs;
  const token = openTokens(platform, { clients, onClientLimited: abuse.onClientLimited });
  const restore = openRestore(platform, clients);

  const tokenPrefix = config.TOKEN_PREFIX;
  const needs = {
    ...abuse.needs,
    ...client.needs,
    ...token.needs,
    grants: createGrants({
      account: platform.account,
      issuing: token.needs.issuing,
      failedAttempts: abuse.failedAttempts,
      queued: abuse.queued,
      tokenPrefix,
    }),
    account: platform.account,
    authorizationEndpoint: config.AUTHORIZATION_ENDPOINT,
    failedAttempts: abuse.failedAttempts,
    registration: { mode: config.REGISTRATION, tokens: config.REGISTRATION_TOKENS },
    readsClientDocuments: config.CIMD_HOSTS.length > 0,
    tokenPrefix,
    issuer: config.ISSUER_URL,
  };
  const publicApp = traced(createPublicApp(context, needs), traces, (req) =>
    trusts(req.socket.remoteAddress),
  );
  const { checks } = platform;
  const { restoring } = restore;
  const privateApp = traced(createPrivateApp(context, needs, { checks, restoring }), traces, () => true);
  return {
    publicHandler: publicApp.handler,
    fastPath: publicApp.fastPath,
    privateHandler: privateApp.handler,
    privateFastPath: privateApp.fastPath,
    close: async () => {
      client.close();
      await Promise.all([restore.close(), token.close()]);
      await traces.close();
      await platform.close();
    },
  };
}

/** Traces the requests of both ways in. */
function traced(
  { handler, fastPath }: Handlers,
  { wrap }: ServiceTraces,
  continues: (req: HttpRequest) => boolean,
): Handlers {
  const tracedOf = keepEach((direct: HttpHandler) => wrap(direct, continues));
  return {
    handler: wrap(handler, continues),
    fastPath: {
      handlerOf: (head) => {
        const direct = fastPath.handlerOf(head);
        return direct && tracedOf(direct);
      },
    },
  };
}
