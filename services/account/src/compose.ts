import { createCors, underCors } from '@tollgate/http/cors';
import type { ComposeContext, Service } from '@tollgate/server';
import { openServiceTraces } from '@tollgate/trace/service-traces';
import { authorize } from './access/authorization/authorize.ts';
import { openAccess } from './access/open.ts';
import { createPrivateApp, createPublicApp, createWorkersApp } from './app.ts';
import { ENTITLEMENT_NOTICES } from './billing/entitlements/publisher.ts';
import { openBilling } from './billing/open.ts';
import { openClosing } from './closing/open.ts';
import type { Config } from './config.ts';
import { openConsole } from './console/open.ts';
import { openCounting } from './counting/open.ts';
import { READER_CONNECTIONS } from './counting/reader/usage-reader.ts';
import { openIdentity } from './identity/open.ts';
import { EXPORT_LIMITS } from './lifecycle/export/running-exports.ts';
import { createIsSignedIn } from './identity/sessions/require-session.ts';
import { openLifecycle } from './lifecycle/open.ts';
import { openMail } from './mail/open.ts';
import { MAIL_RENDERERS } from './mails.ts';
import { openNotifications } from './notifications/open.ts';
import { openOperating } from './operating/open.ts';
import { openOperators } from './operators/open.ts';
import { openPayments } from './payments/open.ts';
import { openPlatform } from './platform/open.ts';
import { openRefusals } from './refusals/open.ts';
import { openScim } from './scim/open.ts';
import { openSelfService } from './self-service/open.ts';
import { openTeams } from './teams/open.ts';
import { openUsage } from './usage/open.ts';

/**
 * Opens the domains in order, and closes them in reverse.
 * @throws {Refusal} if the schema is too new (docs/design/stores.md)
 */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, trusts } = context;
  const platform = await openPlatform(context, {
    requests: config.DATABASE_POOL_MAX,
    accountExports: EXPORT_LIMITS.total,
    usageReader: READER_CONNECTIONS,
  });
  const traces = await openServiceTraces(config, platform.redis, logger);
  const mail = openMail(platform, MAIL_RENDERERS);
  const identity = openIdentity(platform);
  const access = openAccess(platform, identity.needs);
  const billing = openBilling(platform);
  const teams = openTeams(platform, { ...identity.needs, ...mail.needs });
  const scim = openScim(platform, mail.needs);
  const selfService = openSelfService(platform);
  const notifications = openNotifications(platform, mail.needs);
  const counting = openCounting(platform);
  const closing = openClosing(platform, counting.needs);
  const payments = openPayments(platform, {
    ...billing.needs,
    ...counting.needs,
    ...closing.needs,
  });
  const usage = openUsage(platform, identity.needs);
  const refusals = openRefusals(platform);
  const operating = openOperating(platform);
  const operators = openOperators(platform);
  const lifecycle = openLifecycle(platform, { ...mail.needs, ...counting.needs });
  const console = openConsole(platform);
  const working = [
    mail,
    access,
    billing,
    teams,
    scim,
    notifications,
    counting,
    closing,
    payments,
    refusals,
    lifecycle,
    operating,
  ];
  const workers = working.flatMap((domain) => domain.workers);
  const role = config.PROCESS_ROLE;
  const background = role === 'api' ? null : platform.startBackground([ENTITLEMENT_NOTICES]);
  if (background !== null) for (const worker of workers) worker.start(background);
  const close = async () => {
    await usage.needs.liveFeeds.close();
    await Promise.all([background?.close(), ...workers.map((worker) => worker.close())]);
    await Promise.all([access.close(), teams.close()]);
    await traces.close();
    await platform.close();
  };
  if (role === 'workers') return { privateHandler: createWorkersApp(context, platform.checks), close };

  const needs = {
    query: platform.query,
    transact: platform.transact,
    usageLanes: platform.usageLanes,
    ...mail.needs,
    ...access.needs,
    ...identity.needs,
    ...billing.needs,
    ...teams.needs,
    ...scim.needs,
    ...selfService.needs,
    ...notifications.needs,
    ...counting.needs,
    ...payments.needs,
    ...usage.needs,
    ...operating.needs,
    ...operators.needs,
    ...lifecycle.needs,
    ...console.needs,
  };
  const publicApp = createPublicApp(context, needs, {
    introspect: access.introspect,
    paymentEvents: payments.events,
    authorization: authorize({
      ...access.authorization,
      query: platform.query,
      counts: identity.needs.counts,
      faultPage: console.faultPage,
      isSignedIn: createIsSignedIn(needs),
    }),
    pages: console.pages,
  });
  const cors = createCors(config.CORS_ALLOWED_ORIGINS, {
    '/api/usage': 'GET',
    '/api/usage/operations': 'GET',
    '/api/credits': 'GET',
  });
  const listener = underCors(cors, publicApp);
  const privateApp = createPrivateApp(context, needs, platform.checks);
  return {
    ...listener,
    publicHandler: traces.wrap(listener.publicHandler, (req) => trusts(req.socket.remoteAddress)),
    privateHandler: traces.wrap(privateApp, () => true),
    ...(config.OPERATORS_URL === undefined ? {} : { proxiedBelow: '/operator' }),
    drain: () => {
      usage.needs.liveFeeds.drain();
      return Promise.resolve();
    },
    close,
  };
}
