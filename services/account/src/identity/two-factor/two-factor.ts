import type { SealingKey } from '../../platform/sealing/sealing.ts';
import type { PeopleParts } from '../people/people.ts';
import type { RelyingParty } from './passkeys/relying-party.ts';

export type TwoFactorParts = PeopleParts & {
  sealingKeys: readonly SealingKey[];
  /** Undefined: passkeys can't work at PUBLIC_URL. */
  relyingParty: RelyingParty | undefined;
  /** As authenticator apps and browsers show it. */
  productName: string;
};
