import type { PayerEntitlement } from '../../ledger/principal.ts';
import type { Entitle } from './entitle.ts';

/**
 * Entitles a call once the documents are known that its application is limited to.
 * @throws {Problem} as `entitle`; service_unavailable if they can't be asked for
 */
export function entitleWithDocuments(
  entitle: Entitle,
  /** Null if they are known. */
  load: (limit: NonNullable<PayerEntitlement['documentLimit']>, requestId: string) => Promise<void> | null,
): Entitle {
  function withDocuments(
    payer: PayerEntitlement,
    requestId: string,
  ): PayerEntitlement | Promise<PayerEntitlement> {
    const loading = payer.documentLimit === null ? null : load(payer.documentLimit, requestId);
    return loading === null ? payer : loading.then(() => payer);
  }

  return (caller, requestId) => {
    const payer = entitle(caller, requestId);
    return payer instanceof Promise
      ? payer.then((loaded) => withDocuments(loaded, requestId))
      : withDocuments(payer, requestId);
  };
}
