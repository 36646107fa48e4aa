import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { LAPSED_AFTER_DAYS } from '../../identity/accounts/open-domain.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { addDomain, checkDomain, managedTeam, removeDomain } from './changes.ts';
import type { CheckNeeds } from './changes.ts';
import { challengeRecord } from './domain-name.ts';
import { listDomains } from './store.ts';
import type { TeamDomain } from './store.ts';

type Needs = { query: Query; transact: Transact };

const domainSchema = z
  .object({
    domain_id: id,
    domain: z.string().meta({ description: 'In ASCII, as DNS has it. Subdomains are not included.' }),
    status: z.enum(['unproven', 'proven', 'missing', 'lapsed']).meta({
      description:
        '`missing`: proven, and the record was missing at the last check. ' +
        `\`lapsed\`: that for ${String(LAPSED_AFTER_DAYS)} days, so that people of the domain are not added.`,
    }),
    record: z
      .object({
        type: z.literal('TXT'),
        host: z.string().meta({ description: 'Relative to the domain.' }),
        name: z.string().meta({ description: 'The full name.' }),
        value: z.string(),
      })
      .meta({ description: 'The DNS record that proves the domain.' }),
    created_at: instant,
    proven_at: instant.nullable(),
    checked_at: instant.nullable().meta({ description: 'When DNS was last asked.' }),
    missing_since: instant.nullable(),
  })
  .meta({ id: 'TeamDomain' });

const checkSchema = z.object({
  domain: domainSchema,
  result: z.enum(['proven', 'missing', 'unknown']).meta({
    description: '`unknown`: DNS did not answer, or does not know the domain at all.',
  }),
  found: z.array(z.string()).meta({ description: 'The values that stand there instead.' }),
});

const ofDomain = z.object({ domain_id: idParameter });

export const ownerDomains = {
  title: 'Domains',
  description: "Email domains that the caller's team has proven by a DNS record. For the manager only.",
  operations: [
    operation('GET /api/console/team/domains', {
      operationId: 'listTeamDomains',
      summary: "List the team's domains",
      caller: session,
      answers: {
        200: { description: 'The domains.', schema: z.object({ domains: z.array(domainSchema) }) },
      },
      problems: ['forbidden', 'not_found'],
      handle: async ({ query }: Needs, { by }) => {
        const found = await listDomains(query, await managedTeam(query, by));
        return { domains: found.map(domainAnswer) };
      },
    }),
    operation('POST /api/console/team/domains', {
      operationId: 'addTeamDomain',
      summary: 'Add a domain, and get the record that proves it',
      description:
        'The answer is the same if the team has the domain already. Public suffixes and the domains of mail providers ' +
        'are refused.',
      caller: session,
      body: z.strictObject({
        domain: z.string('must be text').max(253, 'must have at most 253 characters'),
      }),
      example: { domain: 'example.com' },
      answers: { 201: { description: 'The domain.', schema: domainSchema } },
      problems: ['not_found'],
      handle: async ({ transact }: Needs, { by, body }) =>
        domainAnswer(await transact((inside) => addDomain(inside, by, body.domain))),
    }),
    operation('POST /api/console/team/domains/{domain_id}/check', {
      operationId: 'checkTeamDomain',
      summary: 'Ask DNS for the record',
      description:
        'At most once a minute for each domain, also if it was removed and added again. A domain that another team ' +
        'had before is lost to it at once.',
      caller: session,
      params: ofDomain,
      answers: { 200: { description: 'The domain, and what DNS answered.', schema: checkSchema } },
      problems: ['too_many_requests'],
      handle: async (needs: CheckNeeds & { wakeMails: () => void }, { by, params: { domain_id } }) => {
        const { domain, check } = await checkDomain(needs, by, domain_id);
        needs.wakeMails();
        const found = check.result === 'missing' ? check.found : [];
        return { domain: domainAnswer(domain), result: check.result, found };
      },
    }),
    operation('DELETE /api/console/team/domains/{domain_id}', {
      operationId: 'removeTeamDomain',
      summary: 'Remove a domain',
      description: 'The team keeps its members.',
      caller: session,
      params: ofDomain,
      answers: { 204: { description: 'The domain was removed.' } },
      handle: async ({ transact }: Needs, { by, params: { domain_id } }) => {
        await transact((inside) => removeDomain(inside, by, domain_id));
      },
    }),
  ],
} satisfies Chapter;

function domainAnswer(found: TeamDomain): z.output<typeof domainSchema> {
  const { domain_id, domain, created_at, proven_at, asked_at, missing_since } = found;
  const record = challengeRecord(found);
  return {
    domain_id,
    domain,
    status: statusOf(found),
    record,
    created_at,
    proven_at,
    checked_at: asked_at,
    missing_since,
  };
}

function statusOf({ proven_at, missing_since, is_lapsed }: TeamDomain) {
  if (proven_at === null) return 'unproven';
  if (is_lapsed) return 'lapsed';
  return missing_since === null ? 'proven' : 'missing';
}
