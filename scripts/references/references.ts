import { readFileSync } from 'node:fs';
import { createProgram } from '../../tools/command/src/program.ts';
import { reference } from '../../tools/command/src/reference/reference.ts';
import { TRACED_STEPS } from '../../services/gateway/src/trace/traces.ts';
import { DELIVERY_MEANINGS } from '../../services/account/src/notifications/deliveries/delivery-errors.ts';
import { WEBHOOK_EVENTS } from '../../services/account/src/notifications/deliveries/event.ts';
import {
  pythonCodes,
  pythonErrors,
  pythonTypes,
  typescriptCodes,
  typescriptErrorClasses,
  typescriptErrors,
  typescriptTypes,
} from './client-types.ts';
import { customersErrors, errorTables } from './errors.ts';
import { table, withParts } from './markdown.ts';
import { withMetrics } from './metrics.ts';
import { plansSchema } from './plans-schema.ts';
import { roleTables } from './roles.ts';
import { callSamples, subscriptionSamples, verificationSamples } from './samples.ts';
import { servedMetrics } from './served-metrics.ts';
import { settingTables } from './settings.ts';

/** Documents whose lists are generated, each from the document as it is, which keeps what was written by hand. */
const REFERENCES: Readonly<Record<string, (document: string) => string | Promise<string>>> = {
  'docs/command.md': (document) => withParts(document, { commands: reference(createProgram()).trim() }),
  'docs/configuration.md': (document) =>
    withParts(document, { ...settingTables(), spans: meaningTable('span', TRACED_STEPS) }),
  'docs/errors.md': (document) => withParts(document, errorTables()),
  'docs/customers/errors.md': (document) => withParts(document, customersErrors()),
  'docs/customers/languages.md': (document) => withParts(document, { samples: callSamples() }),
  'docs/customers/subscriptions.md': (document) => withParts(document, { samples: subscriptionSamples() }),
  'docs/customers/webhooks.md': (document) =>
    withParts(document, {
      events: meaningTable('`type`', WEBHOOK_EVENTS),
      verification: verificationSamples(),
    }),
  'docs/webhooks.md': (document) =>
    withParts(document, {
      events: meaningTable('`type`', WEBHOOK_EVENTS),
      'delivery-errors': meaningTable('`error`', DELIVERY_MEANINGS),
    }),
  'docs/plans.schema.json': () => plansSchema(),
  'clients/typescript/src/api.ts': () => typescriptTypes(),
  'clients/typescript/src/codes.ts': () => typescriptCodes(),
  'clients/typescript/src/error-classes.ts': () => typescriptErrorClasses(),
  'clients/typescript/src/errors.ts': () => typescriptErrors(),
  'clients/python/src/tollgate_client/_api.py': () => pythonTypes(),
  'clients/python/src/tollgate_client/_codes.py': () => pythonCodes(),
  'clients/python/src/tollgate_client/errors.py': () => pythonErrors(),
  'docs/operators.md': (document) => withParts(document, roleTables()),
  'docs/metrics.md': async (document) => withMetrics(document, await servedMetrics()),
};

function meaningTable(name: string, meanings: Readonly<Record<string, string>>): string {
  return table(
    [name, 'meaning'],
    Object.entries(meanings).map(([each, meaning]) => [`\`${each}\``, meaning]),
  );
}

export function references(root: string): Promise<{ path: string; is: string; should: string }[]> {
  return Promise.all(
    Object.entries(REFERENCES).map(async ([path, rewrite]) => {
      const is = readFileSync(`${root}/${path}`, 'utf8');
      return { path, is, should: await rewrite(is) };
    }),
  );
}
