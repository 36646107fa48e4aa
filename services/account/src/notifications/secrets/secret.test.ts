import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newMessageId } from '../deliveries/event.ts';
import { newWebhookSecret, signedHeaders } from './secret.ts';

test('whatever is sent, Standard Webhooks’ own library verifies it, and nothing that was changed', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat({ max: 10_000 }), (payload, at) => {
      const [one, other] = [newWebhookSecret(), newWebhookSecret()];
      const message = { message_id: newMessageId(), payload };
      const headers = signedHeaders(message, [one, other], new Date());
      for (const secret of [one, other]) {
        expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload));
      }
      const verifier = new Webhook(one);
      expect(() => verifier.verify(`${payload} `, headers)).toThrow();
      expect(() => verifier.verify(payload, { ...headers, 'webhook-id': newMessageId() })).toThrow();
      const moved = String(Number(headers['webhook-timestamp']) + 1 + (at % 60));
      expect(() => verifier.verify(payload, { ...headers, 'webhook-timestamp': moved })).toThrow();
      expect(() => new Webhook(newWebhookSecret()).verify(payload, headers)).toThrow();
    }),
    { numRuns: 50 },
  );
});

test('a secret is whsec_ and 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
});
