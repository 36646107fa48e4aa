import { clientRegistrationSchema, registrationAnswerSchema } from '@tollgate/contracts/client-registration';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { service } from '../../platform/audit/private-callers.ts';
import type { RegisterClient } from './register.ts';

type Needs = { registerClient: RegisterClient };

export const serviceRegistrations = {
  title: 'Registrations',
  description: 'For auth: clients that register themselves.',
  operations: [
    operation('POST /private/client-registrations', {
      operationId: 'registerClient',
      summary: 'Register a client (RFC 7591)',
      description:
        'A public application without an account. An address registers 10 an hour, and there are 10,000 at most; an ' +
        'unused one is removed after a day.',
      caller: service,
      body: clientRegistrationSchema,
      example: {
        client_name: 'Agent',
        redirect_uris: ['http://127.0.0.1/callback'],
        is_trusted: false,
        address: '203.0.113.7',
      },
      answers: { 200: { description: 'Registered or refused.', schema: registrationAnswerSchema } },
      handle: ({ registerClient }: Needs, { by, body }) => registerClient(body, by.actor),
    }),
  ],
} satisfies Chapter;
