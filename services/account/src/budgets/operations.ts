import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { operatorAccess, ownerAccess } from '../access/applications/access.ts';
import type { Access } from '../access/applications/access.ts';
import {
  applicationBudgetSchema,
  applicationFigures,
  memberBudgetSchema,
} from '../billing/budgets/answers.ts';
import { id } from '../http/answer-fields.ts';
import { idParameter } from '../http/input/id-parameter.ts';
import { requireAccount } from '../identity/accounts/account-store.ts';
import { session } from '../identity/sessions/require-session.ts';
import type { Actor } from '../platform/audit/audit-log.ts';
import { operator } from '../platform/audit/private-callers.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { listMembers } from '../teams/operators/operator-store.ts';
import { findMembership } from '../teams/store.ts';
import { applicationBudget, findManagedApplications, listBudgets, memberBudget } from './budgets.ts';
import {
  changeAnyMemberBudget,
  changeApplicationBudget,
  changeManagedBudget,
  changeMemberBudget,
  noMember,
  requireManagedMember,
} from './changes.ts';
import { budgetInputSchema } from './input.ts';

type Needs = { query: Query; transact: Transact };

const EXAMPLE = { points_per_period: 100_000, points_per_day: 5_000 };

const REPLACES = 'Replaces both figures. A field that is missing or null is no limit.';

const ofApplication = z.object({ application_id: idParameter });

const ofMember = z.object({ account_id: idParameter });

const APPLICATION = { description: 'The budget.', schema: applicationBudgetSchema };

const MEMBER = { description: 'The budget.', schema: memberBudgetSchema };

const managedApplicationSchema = z
  .object({ application_id: id, name: z.string(), ...applicationFigures })
  .meta({ id: 'ManagedApplication' });

const listSchema = z.object({
  budgets: z.array(
    z
      .object({
        account_id: id,
        application_id: id.nullable().meta({ description: "Null for a member's budget." }),
        name: z.string().meta({ description: 'Of the application or the member.' }),
        ...applicationFigures,
      })
      .meta({ id: 'ListedBudget' }),
  ),
});

const LISTED = {
  description: 'By account; its own budget before those of its applications.',
  schema: listSchema,
};

export const ownerBudgets = {
  title: 'Budgets',
  description:
    "A budget limits what an application or a team member may spend of the payer's points. Calls beyond it are " +
    'refused with `budget_exceeded`.',
  operations: [
    ...operationsOnApplication(ownerAccess),
    operation('GET /api/console/team/members/{account_id}/budget', {
      operationId: 'getMemberBudget',
      summary: "Get a member's budget",
      description: "Manager only. Also lists the member's applications and their budgets.",
      caller: session,
      params: ofMember,
      answers: {
        200: {
          description: 'The budget.',
          schema: memberBudgetSchema
            .extend({ applications: z.array(managedApplicationSchema) })
            .meta({ id: 'ManagedMemberBudget' }),
        },
      },
      problems: ['forbidden'],
      handle: async ({ query }: Needs, { by, params: { account_id } }) => {
        await requireManagedMember(query, by.account_id, account_id);
        return {
          ...(await memberBudget(query, account_id)),
          applications: await findManagedApplications(query, account_id),
        };
      },
    }),
    operation('PUT /api/console/team/members/{account_id}/budget', {
      operationId: 'putMemberBudget',
      summary: "Set a member's budget",
      description: `Manager only. ${REPLACES} The budget ends with the membership.`,
      caller: session,
      params: ofMember,
      body: budgetInputSchema,
      example: EXAMPLE,
      answers: { 200: MEMBER },
      handle: async ({ query, transact }: Needs, { by, params: { account_id }, body }) => {
        await transact((inside) => changeMemberBudget(inside, by, account_id, body));
        return memberBudget(query, account_id);
      },
    }),
    operation('PUT /api/console/team/applications/{application_id}/budget', {
      operationId: 'putManagedApplicationBudget',
      summary: "Set the manager's budget of a member's application",
      description:
        `Manager only. ${REPLACES} Of the owner's figure and the manager's, the lower one holds. The manager's ends ` +
        'with the membership.',
      caller: session,
      params: ofApplication,
      body: budgetInputSchema,
      example: EXAMPLE,
      answers: { 200: APPLICATION },
      handle: async ({ query, transact }: Needs, { by, params: { application_id }, body }) => {
        await transact((inside) => changeManagedBudget(inside, by, application_id, body));
        return applicationBudget(query, { application_id, owner_id: null });
      },
    }),
  ],
} satisfies Chapter;

export const operatorBudgets = {
  title: 'Budgets',
  description: "What applications and team members may spend of their payer's points.",
  operations: [
    ...operationsOnApplication(operatorAccess),
    operation('GET /private/accounts/{account_id}/budgets', {
      operationId: 'listAccountBudgets',
      summary: 'List the budgets of an account',
      description: 'Its own as a team member, and those of its applications.',
      caller: operator,
      roles: ['viewer'],
      params: ofMember,
      answers: { 200: LISTED },
      handle: async ({ query }: Needs, { params: { account_id } }) => {
        await requireAccount(query, account_id);
        return { budgets: await listBudgets(query, [account_id]) };
      },
    }),
    operation('GET /private/teams/{team_id}/budgets', {
      operationId: 'listTeamBudgets',
      summary: 'List the budgets in a team',
      description: 'Those of its members, and of the applications of all its accounts.',
      caller: operator,
      roles: ['viewer'],
      params: z.object({ team_id: idParameter }),
      answers: { 200: LISTED },
      handle: async ({ query }: Needs, { params: { team_id } }) => {
        const members = await listMembers(query, team_id);
        // A team has at least its manager.
        if (members.length === 0) throw new Problem('not_found');
        return {
          budgets: await listBudgets(
            query,
            members.map(({ account_id }) => account_id),
          ),
        };
      },
    }),
    operation('GET /private/members/{account_id}/budget', {
      operationId: 'getMemberBudget',
      summary: "Get a team member's budget",
      caller: operator,
      roles: ['viewer'],
      params: ofMember,
      answers: { 200: MEMBER },
      handle: async ({ query }: Needs, { params: { account_id } }) => {
        if ((await findMembership(query, account_id))?.role !== 'member') throw noMember();
        return memberBudget(query, account_id);
      },
    }),
    operation('PUT /private/members/{account_id}/budget', {
      operationId: 'putMemberBudget',
      summary: "Set a team member's budget",
      description: `${REPLACES} The budget ends with the membership.`,
      caller: operator,
      roles: ['finance'],
      params: ofMember,
      body: budgetInputSchema,
      example: EXAMPLE,
      answers: { 200: MEMBER },
      handle: async ({ query, transact }: Needs, { by, params: { account_id }, body }) => {
        await transact((inside) => changeAnyMemberBudget(inside, account_id, body, by.actor));
        return memberBudget(query, account_id);
      },
    }),
  ],
} satisfies Chapter;

function operationsOnApplication<By extends { actor: Actor }>({ caller, path: root, ownerOf }: Access<By>) {
  const path = `${root}/applications/{application_id}/budget` as const;
  return [
    operation(`GET ${path}`, {
      operationId: 'getApplicationBudget',
      summary: "Get an application's budget",
      caller,
      roles: ['viewer'],
      params: ofApplication,
      answers: { 200: APPLICATION },
      handle: ({ query }: Needs, { by, params: { application_id } }) =>
        applicationBudget(query, { application_id, owner_id: ownerOf(by) }),
    }),
    operation(`PUT ${path}`, {
      operationId: 'putApplicationBudget',
      summary: "Set an application's budget",
      description: `${REPLACES} The manager of the owner's team may have set lower figures, which hold.`,
      caller,
      roles: ['finance'],
      params: ofApplication,
      body: budgetInputSchema,
      example: EXAMPLE,
      answers: { 200: APPLICATION },
      handle: async ({ query, transact }: Needs, { by, params: { application_id }, body }) => {
        const key = { application_id, owner_id: ownerOf(by) };
        await transact((inside) => changeApplicationBudget(inside, key, body, by.actor));
        return applicationBudget(query, key);
      },
    }),
  ];
}
