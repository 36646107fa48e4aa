import type { Stack } from '../stack/stack.ts';
import { badInput } from './bad-input.ts';
import { clients } from './clients.ts';
import { faults } from './faults.ts';
import { meteredCall } from './metered-call.ts';
import { revocation } from './revocation.ts';
import { team } from './team.ts';

/** Every spec, against whichever stack is given. */
export function allSpecs(stack: () => Stack): void {
  meteredCall(stack);
  team(stack);
  clients(stack);
  badInput(stack);
  revocation(stack);
  faults(stack);
}
