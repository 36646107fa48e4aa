import { Problem } from '@tollgate/http/problem';

/** The requests of each token that are under way on this gateway. @throws {Problem} too_many_requests */
export type TakeTokenSlot = (tokenHash: string) => () => void;

export function createTokenSlots(perToken: number): TakeTokenSlot {
  const taken = new Map<string, number>();
  return (tokenHash) => {
    const held = taken.get(tokenHash) ?? 0;
    if (held >= perToken) {
      throw new Problem('too_many_requests', {
        detail: `A token may have ${String(perToken)} requests under way.`,
        headers: { 'retry-after': '1' },
      });
    }
    taken.set(tokenHash, held + 1);
    return () => {
      const left = (taken.get(tokenHash) ?? 1) - 1;
      if (left === 0) taken.delete(tokenHash);
      else taken.set(tokenHash, left);
    };
  };
}
