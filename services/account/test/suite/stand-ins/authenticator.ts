import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** A passkey in software: answers as a browser with an authenticator does (WebAuthn, sections 5.1 and 6). */
export type Authenticator = {
  create: (options: Options, changes?: Changes) => object;
  get: (options: Options, changes?: Changes) => object;
  /** Uses so far; a copied passkey counts on its own. */
  count: number;
};

type Options = { challenge?: unknown; rp?: { id: string }; rpId?: string; user?: { id: string } };

type Changes = {
  origin?: string;
  /** Whether the authenticator has verified its user. */
  verified?: boolean;
  attestation?: { fmt: string; attStmt: Map<string, unknown> };
};

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;

type Cbor = Parameters<typeof isoCBOR.encode>[0];

export function newAuthenticator(origin: string): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  let userHandle: string | undefined;

  const clientData = (type: string, { challenge }: Options, { origin: at = origin }: Changes) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));

  function head(rpId: string, flags: number, { verified = true }: Changes): Buffer {
    const count = Buffer.alloc(4);
    authenticator.count += 1;
    count.writeUInt32BE(authenticator.count);
    const all = flags | USER_PRESENT | (verified ? USER_VERIFIED : 0);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([all]), count]);
  }

  function attestedKey(): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const cose = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    return Buffer.concat([Buffer.alloc(16), length, id, Buffer.from(isoCBOR.encode(cose as Cbor))]);
  }

  const authenticator: Authenticator = {
    count: 0,
    create: (options, changes = {}) => {
      userHandle = options.user?.id;
      const { fmt = 'none', attStmt = new Map() } = changes.attestation ?? {};
      const authData = Buffer.concat([head(options.rp?.id ?? '', ATTESTED, changes), attestedKey()]);
      const attestation = new Map<string, unknown>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', new Uint8Array(authData)],
      ]);
      return credential({
        clientDataJSON: clientData('webauthn.create', options, changes),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as Cbor)),
      });
    },
    get: (options, changes = {}) => {
      const authenticatorData = head(options.rpId ?? '', 0, changes);
      const clientDataJSON = clientData('webauthn.get', options, changes);
      const hash = createHash('sha256').update(clientDataJSON).digest();
      const signature = sign('sha256', Buffer.concat([authenticatorData, hash]), privateKey);
      return credential({ clientDataJSON, authenticatorData, signature }, { userHandle });
    },
  };
  return authenticator;

  function credential(parts: Record<string, Buffer>, more: object = {}): object {
    const encoded = Object.entries(parts).map(([name, bytes]) => [name, bytes.toString('base64url')]);
    const response = { ...(Object.fromEntries(encoded) as object), ...more };
    const own = id.toString('base64url');
    return { id: own, rawId: own, type: 'public-key', clientExtensionResults: {}, response };
  }
}
