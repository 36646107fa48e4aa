import { explained } from '../../packages/config/src/explained.ts';
import type { Settings } from '../../packages/config/src/explained.ts';
import { callerSettings, processSettings, requestSettings } from '../../packages/config/src/settings.ts';
import { databaseTlsSettings, redisTlsSettings } from '../../packages/config/src/store-tls.ts';
import { tokenPrefixSetting } from '../../packages/credentials/src/access-token/token-prefix-setting.ts';
import { traceSettings } from '../../packages/trace/src/settings.ts';
import { schema as accountSchema, SETTINGS as account } from '../../services/account/src/config.ts';
import { schema as authSchema, SETTINGS as auth } from '../../services/auth/src/config.ts';
import { schema as gatewaySchema, SETTINGS as gateway } from '../../services/gateway/src/config.ts';
import { LAUNCHER_SETTINGS } from '../launcher/settings.ts';
import { table } from './markdown.ts';

const TABLES: Readonly<Record<string, Settings>> = {
  'all-services': { ...processSettings, ...callerSettings, TOKEN_PREFIX: tokenPrefixSetting },
  requests: requestSettings,
  'store-tls': { ...databaseTlsSettings, ...redisTlsSettings },
  auth: auth.service,
  'auth-limits': auth.limits,
  'auth-manual-tokens': auth.manualTokens,
  account: account.service,
  'account-usage': account.usage,
  'account-web-interface': account.webInterface,
  'account-operators': account.operators,
  'account-payments': account.payments,
  'account-mail': account.mail,
  'account-webhooks': account.webhooks,
  'account-sample': account.sample,
  gateway: gateway.calls,
  'gateway-caches': gateway.caches,
  'gateway-upstream': gateway.upstream,
  'gateway-usage': gateway.usage,
  'gateway-sockets': gateway.sockets,
  traces: traceSettings('tollgate-<service>'),
  'npm-start': LAUNCHER_SETTINGS,
};

/**
 * The tables of docs/configuration.md, and the list of secrets.
 *
 * @throws {Error} if a setting of a service is in no table, or has no description
 */
export function settingTables(tables = TABLES): Record<string, string> {
  const listed = Object.assign({}, ...Object.values(tables)) as Settings;
  const missing = [authSchema, accountSchema, gatewaySchema]
    .flatMap(({ shape }) => Object.keys(shape))
    .filter((name) => !(name in listed));
  if (missing.length > 0) throw new Error(`No table of docs/configuration.md has ${missing.join(', ')}`);
  const secrets = Object.entries(listed).filter(([, setting]) => explained(setting).isSecret);
  return {
    ...Object.fromEntries(
      Object.entries(tables).map(([name, settings]) => [
        name,
        table(['setting', 'default', 'values', 'meaning'], Object.entries(settings).map(settingRow)),
      ]),
    ),
    secrets: secrets
      .map(([name]) => `- \`${name}\``)
      .toSorted()
      .join('\n'),
  };
}

function settingRow([name, setting]: readonly [string, Settings[string]]): string[] {
  const { fallback, values = '', description } = explained(setting);
  if (description === undefined) throw new Error(`${name} has no description`);
  return [`\`${name}\``, fallback ?? 'required', values, description];
}
