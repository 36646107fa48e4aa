/** What account holders can do without sales (SELF_SERVICE). `cancel` includes undoing a cancellation. */
export const SELF_SERVICE_ACTIONS = ['subscribe', 'change', 'cancel', 'slots'] as const;

export type SelfServiceAction = (typeof SELF_SERVICE_ACTIONS)[number];

export type SelfService = {
  actions: readonly SelfServiceAction[];
  /** http(s) or mailto. */
  contactSalesUrl: string | null;
};
