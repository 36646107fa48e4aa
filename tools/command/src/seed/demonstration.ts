import type { Body } from '../api/client.ts';
import { randomFrom } from './random.ts';

/** What `tollgate seed` makes: the same for the same number of accounts, and of more accounts the first are the same. */

/** Of all addresses that it makes; reserved for examples (RFC 6761), so no mail reaches anybody. */
export const DEMO_DOMAIN = '@demo.example';

export const DEMO_PRODUCT = 'Demonstration API';

export type DemoPlan = {
  name: string;
  grace_sec: number;
  description: Body<'createPlan'>['description'] & { points_limit: number };
};

export const DEMO_PLANS = [
  {
    name: 'Demo Starter',
    grace_sec: 259_200,
    description: {
      points_limit: 50_000,
      rate_limit: 120,
      session_limit: 5,
      team_slots_limit: 1,
      support: 'forum',
    },
  },
  {
    name: 'Demo Business',
    grace_sec: 259_200,
    description: {
      points_limit: 1_000_000,
      rate_limit: 1_200,
      session_limit: 50,
      subscription_limit: 20,
      team_slots_limit: 10,
      support: 'e-mail',
    },
  },
  {
    name: 'Demo Enterprise',
    grace_sec: 604_800,
    description: {
      points_limit: 20_000_000,
      rate_limit: 12_000,
      session_limit: 500,
      subscription_limit: 500,
      team_slots_limit: 100,
      support: 'telephone',
    },
  },
] as const satisfies readonly DemoPlan[];

/** How an account stands when it is made; a period by hand passes through grace and expires as time goes by. */
type Scenario = 'subscribed' | 'yearly' | 'cancelling' | 'by hand' | 'ended' | 'blocked' | 'new';

export type DemoAccount = {
  email: string;
  name: string;
  plan: DemoPlan;
  scenario: Scenario;
  /** Months before it was made, of which it has a period each and usage. */
  months: number;
  applications: readonly string[];
  /** Share of the plan's points that it uses in a month. */
  share: number;
  /** For the usage of this account alone. */
  seed: number;
};

const NAMES = [
  'Ada',
  'Ben',
  'Chiara',
  'Dawit',
  'Elif',
  'Farid',
  'Grace',
  'Hugo',
  'Ines',
  'Jun',
  'Kofi',
  'Lena',
];
const FIRMS = ['Maps', 'Trade', 'Lab', 'Media', 'Health', 'Energy', 'Travel', 'Bank', 'Foods', 'Robotics'];
const APPLICATIONS = ['Backend', 'Mobile app', 'Reports'];

/** Every kind comes among the first accounts. */
const SCENARIOS: readonly Scenario[] = [
  'subscribed',
  'by hand',
  'cancelling',
  'subscribed',
  'ended',
  'yearly',
  'blocked',
  'subscribed',
  'new',
  'subscribed',
];

/** The account with a number, from 1 on. */
export function demoAccount(number: number): DemoAccount {
  const random = randomFrom(number);
  const pick = <T>(choices: readonly [T, ...T[]] | readonly T[]) =>
    choices[Math.floor(random() * choices.length)] as T;
  const scenario = SCENARIOS[(number - 1) % SCENARIOS.length] ?? 'subscribed';
  return {
    email: `account-${String(number)}${DEMO_DOMAIN}`,
    name: `${pick(NAMES)} of Demo ${pick(FIRMS)} ${String(number)}`,
    plan: pick(DEMO_PLANS),
    scenario,
    months: scenario === 'new' ? 0 : 1 + Math.floor(random() * 3),
    applications: APPLICATIONS.slice(0, 1 + Math.floor(random() * APPLICATIONS.length)),
    share: 0.2 + random() * 0.75,
    seed: number,
  };
}

/** Members of the demonstration's person's team; they have no periods of their own. */
export const DEMO_MEMBERS = [
  {
    email: `mira${DEMO_DOMAIN}`,
    name: 'Mira of the demo team',
    application: 'Dashboard',
    share: 0.12,
    seed: 1_000_001,
  },
  {
    email: `noah${DEMO_DOMAIN}`,
    name: 'Noah of the demo team',
    application: 'Notebook',
    share: 0.07,
    seed: 1_000_002,
  },
] as const;

/** The person who is shown around, where the stack has no sample account. */
export const DEMO_PERSON = {
  email: `person${DEMO_DOMAIN}`,
  name: 'Demo person',
  plan: DEMO_PLANS[1],
  scenario: 'subscribed',
  months: 3,
  applications: ['Backend', 'Mobile app'],
  share: 0.55,
  seed: 1_000_000,
} as const satisfies DemoAccount;
