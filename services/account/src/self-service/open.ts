import type { Config } from '../config.ts';
import { SELF_SERVICE_ACTIONS } from './settings.ts';
import type { SelfService } from './settings.ts';

/** What customers do about their plan without an operator (docs/design/billing.md). */
export function openSelfService({
  config,
}: {
  config: Pick<Config, 'SELF_SERVICE' | 'CONTACT_SALES_URL' | 'PAYMENTS'>;
}): { needs: { selfService: SelfService } } {
  // Without payments, the rest would sell without charging.
  const actions = config.SELF_SERVICE ?? (config.PAYMENTS === 'none' ? ['cancel'] : SELF_SERVICE_ACTIONS);
  const contactSalesUrl = config.CONTACT_SALES_URL ?? null;
  return { needs: { selfService: { actions, contactSalesUrl } } };
}
