/** The ledger accounts of a grant; a movement has `grant` on one side. */
export const LEDGERS = ['issued', 'grant', 'used', 'expired', 'voided', 'refunded', 'forfeited'] as const;

export type Ledger = (typeof LEDGERS)[number];

/** Where what is left of a voided grant goes. */
export type VoidLedger = Extract<Ledger, 'voided' | 'refunded' | 'forfeited'>;
