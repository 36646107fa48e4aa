import type { Config } from '../config.ts';
import type { SelfService } from './settings.ts';

/** What customers do about their plan without an operator (docs/design/billing.md). */
export function openSelfService({ config }: { config: Pick<Config, 'SELF_SERVICE' | 'CONTACT_SALES_URL'> }): {
  needs: { selfService: SelfService };
} {
  const contactSalesUrl = config.CONTACT_SALES_URL ?? null;
  return { needs: { selfService: { actions: config.SELF_SERVICE, contactSalesUrl } } };
}
