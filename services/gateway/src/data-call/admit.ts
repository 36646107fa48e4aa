import { Problem } from '@tollgate/problem';

export type Admit = (payerId: number) => void;

/**
 * Part 3 of a data call: may it pass now? The plan's limits come in here; today the one condition is that its
 * usage can be recorded. A call that couldn't be counted isn't let through.
 * @throws {Problem} service_unavailable where Redis is away, or finished calls wait for it already.
 */
export function createAdmit(settlement: { canRecord: (payerId: number) => boolean }): Admit {
  return (payerId) => {
    if (!settlement.canRecord(payerId)) {
      throw new Problem('service_unavailable', {
        cause: new Error('usage can not be recorded at the moment'),
      });
    }
  };
}
