import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { formatNumber } from '../../ui/format.ts';
import pageStyles from '../../ui/page/page.module.css';
import { ContactSales } from './contact-sales.tsx';
import styles from './plan.module.css';
import { changing } from './queries.ts';
import type { Subscription } from './queries.ts';

type TeamSlotsProps = { subscription: Subscription; slots: NonNullable<Subscription['team_slots']> };

/** How many people can be in the team, and buying or releasing slots for more. */
export function TeamSlots({ subscription, slots }: TeamSlotsProps) {
  const isSelfService = subscription.self_service.actions.includes('slots');
  const isOffered = slots.max > slots.included;
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
  const [saved, setSaved] = useState<number | null>(null);
  const least = Math.max(slots.included, slots.used);
  const range = `${formatNumber(least)} to ${formatNumber(slots.max)}.`;
  const price = slots.price === null ? '' : ` Each additional slot: ${slots.price}.`;
  return (
    <div className={styles['slots']}>
      <Form
        key={slots.limit}
        submitLabel="Change slots"
        onSubmit={({ team_slots_limit: typed }) =>
          changing(
            client,
            resultOf(
              api.PUT('/api/console/subscription/team-slots', {
                body: { team_slots_limit: typed === undefined || typed === '' ? Number.NaN : Number(typed) },
              }),
            ),
          )
        }
        onDone={({ team_slots }) => {
          setSaved(team_slots?.limit ?? null);
        }}
      >
        {(errors) => (
          <TextField
            label="Number of slots"
            name="team_slots_limit"
            autoComplete="off"
            maxLength={9}
            defaultValue={String(slots.limit)}
            description={`${range}${price} A change takes effect now.`}
            error={errors['team_slots_limit']}
          />
        )}
      </Form>
      <p role="status">{saved !== null && `Your team has ${formatNumber(saved)} slots now.`}</p>
    </div>
  );
}
