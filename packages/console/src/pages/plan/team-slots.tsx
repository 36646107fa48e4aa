import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { formatNumber } from '../../ui/format.ts';
import pageStyles from '../../ui/page/page.module.css';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { ContactSales } from './contact-sales.tsx';
import styles from './plan.module.css';
import { changing } from './queries.ts';
import type { Subscription } from './queries.ts';

const BuySlots = lazyPart(async () => (await import('./payment/buy-slots.tsx')).BuySlots);

type TeamSlotsProps = { subscription: Subscription; slots: NonNullable<Subscription['team_slots']> };

/** How many people can be in the team, and buying or releasing slots for more. */
export function TeamSlots({ subscription, slots }: TeamSlotsProps) {
  const isSelfService = subscription.self_service.actions.includes('slots');
  const isOffered = slots.max > slots.included || slots.limit > slots.least;
  const isBlocked = subscription.status === 'blocked';
  return (
    <section className={pageStyles['card']} aria-labelledby="team-slots">
      <h2 id="team-slots">Team slots</h2>
      <p>
        {formatNumber(slots.used)} of {formatNumber(slots.limit)} taken, by you, members and pending
        invitations. Your plan includes {formatNumber(slots.included)}.
      </p>
      {isOffered && !isBlocked && isSelfService && <SlotsForm slots={slots} />}
      {isOffered && !isSelfService && (
        <ContactSales subscription={subscription} to="to buy or release team slots" />
      )}
      {!isOffered && <p className={pageStyles['muted']}>This plan offers no additional slots.</p>}
    </section>
  );
}

function SlotsForm({ slots }: Pick<TeamSlotsProps, 'slots'>) {
  const client = useQueryClient();
  const [saved, setSaved] = useState<string | null>(null);
  const [wanted, setWanted] = useState<number | null>(null);
  const least = Math.max(slots.least, slots.used);
  const range = `${formatNumber(least)} to ${formatNumber(slots.max)}.`;
  const price = slots.price === null ? '' : ` Each additional slot: ${slots.price}.`;
  const effect = slots.is_charged
    ? 'You pay for more slots now; fewer are released at the end of the billing period.'
    : 'A change takes effect now.';
  const change = async (typed: string | undefined) => {
    const team_slots_limit = typed === undefined || typed === '' ? Number.NaN : Number(typed);
    if (slots.is_charged && team_slots_limit > slots.max) {
      throw new FieldError('team_slots_limit', `Enter ${formatNumber(slots.max)} at most.`);
    }
    if (slots.is_charged && team_slots_limit > slots.limit) return team_slots_limit;
    const body = { team_slots_limit };
    return changing(client, resultOf(api.PUT('/api/console/subscription/team-slots', { body })));
  };
  return (
    <div className={styles['slots']}>
      {slots.pending_limit !== null && (
        <p>
          Your team has {formatNumber(slots.pending_limit)} slots from the next billing period on. To keep
          all, enter {formatNumber(slots.limit)}.
        </p>
      )}
      <Form
        key={`${String(slots.limit)}-${String(slots.pending_limit)}`}
        submitLabel="Change slots"
        onSubmit={({ team_slots_limit }) => change(team_slots_limit)}
        onDone={(changed) => {
          if (typeof changed === 'number') setWanted(changed);
          else setSaved(statusOf(changed.team_slots));
        }}
      >
        {(errors) => (
          <TextField
            label="Number of slots"
            name="team_slots_limit"
            autoComplete="off"
            maxLength={9}
            defaultValue={String(slots.pending_limit ?? slots.limit)}
            description={`${range}${price} ${effect}`}
            error={errors['team_slots_limit']}
          />
        )}
      </Form>
      <p role="status">{saved}</p>
      {wanted !== null && (
        <Suspense fallback={null}>
          <BuySlots
            wanted={wanted}
            slots={slots}
            onBought={() => {
              setWanted(null);
              setSaved(`Your team has ${formatNumber(wanted)} slots now.`);
            }}
            onClose={() => {
              setWanted(null);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

function statusOf(slots: Subscription['team_slots']): string | null {
  if (slots === null) return null;
  return slots.pending_limit === null
    ? `Your team has ${formatNumber(slots.limit)} slots now.`
    : `Your team keeps ${formatNumber(slots.limit)} slots until the billing period ends.`;
}
