import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Purchase } from './store.ts';

type Reconciled = {
  since: Date;
  started_at: Date;
  checked: number;
  failed: number;
  isComplete: boolean;
  differences: { object_id: string; change: string }[];
};

/** What operations do about payments; there is none with PAYMENTS=none. */
export type Payments = {
  begin: (wanted: { account_id: number; pack_id: number; quantity: number }, by: Actor) => Promise<Purchase>;
  /** Asks the provider what became of it. Does nothing if it can't be reached. */
  refresh: (purchase: Purchase) => Promise<void>;
  /** Of packs and prices. Does nothing if the provider can't be reached. */
  closeWithdrawnPages: () => Promise<void>;
  /** @throws {Problem} payments_unavailable */
  reconcile: (wanted: { since: Date; isDryRun: boolean }) => Promise<Reconciled>;
};
