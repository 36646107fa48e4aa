import type { InstallationId } from '../installation-id.ts';
import type { PaymentProvider } from '../provider.ts';

/** By which installations that share an account at Stripe tell their objects apart (docs/design/payments.md). */
const INSTALLATION = 'tollgate_installation';

type Metadata = Readonly<Record<string, string>>;

export function marked(metadata: Metadata, installationId: string): Metadata {
  return { ...metadata, [INSTALLATION]: installationId };
}

/** A former version marked nothing. */
export function isOwn(metadata: Metadata, installationId: string): boolean {
  return [undefined, installationId].includes(metadata[INSTALLATION]);
}

/**
 * Marks what is made at Stripe as this installation's, and takes no other one's object for its own: by its metadata, an
 * account and a plan with the same ids would get what was sold there. Keys of requests that consist of ids have the
 * installation, too.
 */
export function ofInstallation(provider: PaymentProvider, installationId: InstallationId): PaymentProvider {
  const mark = async (metadata: Metadata) => marked(metadata, await installationId());
  const keyed = async (key: string) => `${await installationId()}:${key}`;

  async function own<Found extends { metadata: Metadata }>(found: Found): Promise<Found> {
    return isOwn(found.metadata, await installationId()) ? found : { ...found, metadata: {} };
  }

  const ownIfAny = <Found extends { metadata: Metadata }>(found: Found | undefined) =>
    found === undefined ? undefined : own(found);

  return {
    ...provider,
    openCheckout: async (wanted) =>
      provider.openCheckout({ ...wanted, metadata: await mark(wanted.metadata) }),
    readCheckout: async (id) => ownIfAny(await provider.readCheckout(id)),
    readPayment: async (id) => ownIfAny(await provider.readPayment(id)),
    preparePayment: async (wanted) =>
      provider.preparePayment({ ...wanted, metadata: await mark(wanted.metadata) }),
    readOffSessionPayment: async (id) => ownIfAny(await provider.readOffSessionPayment(id)),
    readSubscription: async (id) => ownIfAny(await provider.readSubscription(id)),
    listSubscriptions: async function* () {
      for await (const found of provider.listSubscriptions()) yield own(found);
    },
    addInvoiceItem: async (wanted) =>
      provider.addInvoiceItem({
        ...wanted,
        key: await keyed(wanted.key),
        metadata: await mark(wanted.metadata),
      }),
    invoicePendingItems: async (wanted) =>
      provider.invoicePendingItems({ ...wanted, key: await keyed(wanted.key) }),
  };
}
