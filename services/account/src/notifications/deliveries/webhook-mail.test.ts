import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { mailsTo, nthMail, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest, ReadMail } from '../../../test/suite/people.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { makeWebhook, sendTest } from '../../../test/suite/notifications/webhooks.ts';

let suite: PeopleUnderTest;
let receiver: Receiver;
let owner: Owner;

beforeAll(async () => {
  suite = await startPeople({ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' });
  receiver = await startReceiver();
  receiver.answer = (_req, res) => {
    res.writeHead(410).end();
  };
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await Promise.all([suite.close(), receiver.close()]);
});

async function queueMail(webhook_id: number): Promise<void> {
  const { account_id, email } = owner;
  await suite.database('mail_outbox').insert({
    kind: 'webhook_disabled',
    recipient: email,
    account_id,
    webhook_id,
  });
}

const told = () => nthMail(suite.mailDirectory, owner.email);

function expectLink({ text }: ReadMail): void {
  const [link = ''] = /^http\S+$/m.exec(text.replaceAll('\r', '')) ?? [];
  expect(link).toBe('http://tollgate.example/user/webhooks');
}

test('the mail names the webhook, without its query, and leads to the webhooks', async () => {
  const webhook = await makeWebhook(owner, `${receiver.url}?key=in-the-query`);
  await sendTest(owner, webhook);
  const mail = await told();
  const id = String(webhook.webhook_id);
  expect(mail.subject).toBe('[Tollgate] A webhook was disabled');
  expect(mail.text).toContain(`Webhook: ${id}`);
  expect(mail.text).toContain(`Address: ${receiver.url}`);
  expect(mail.text).not.toContain('in-the-query');
  expectLink(mail);
});

test('user info is left out, of an address that has one all the same; the markup holds no other', async () => {
  const { webhook_id } = await makeWebhook(owner, 'https://hooks.invalid/');
  const url = 'https://user:pass-word@hooks.invalid/a&b?key=1';
  await suite.database('webhooks').where({ webhook_id }).update({ url });
  await queueMail(webhook_id);
  const { text } = await told();
  expect(text).toContain('Address: https://hooks.invalid/a&b');
  expect(text).toContain('https://hooks.invalid/a&amp;b<');
  expect(text).not.toMatch(/pass-word|key=1/);
});

test('of a webhook that is deleted meanwhile no mail comes', async () => {
  await queueMail(9_999_999);
  await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
  expect(mailsTo(suite.mailDirectory, owner.email)).toEqual([]);
});
