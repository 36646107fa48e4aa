import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, resultOf } from '../../../api/client.ts';
import { Form } from '../../../ui/form/form.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import page from '../../../ui/page/page.module.css';
import { wholeIn } from '../amount.ts';
import { formatAmount } from '../credits/price.ts';
import { AddCard } from '../payment/add-card.tsx';
import { perThousand } from './price.ts';
import { OVERAGE_KEY, costQuery, overageQuery } from './queries.ts';
import type { Overage } from './queries.ts';

type OverageFormProps = {
  settings: Overage;
  offer: NonNullable<Overage['offer']>;
  onClose: () => void;
};

const FIELD = 'cap_points';

/** How many further points a billing period may use. What that costs at most is said while it is typed. */
export function OverageForm({ settings, offer, onClose }: OverageFormProps) {
  const client = useQueryClient();
  const saved = settings.cap_points === 0 ? '' : String(settings.cap_points);
  const [typed, setTyped] = useState(saved);
  const [needsCard, setNeedsCard] = useState(false);
  const cost = useQuery(costQuery(wholeOrNothing(typed)));
  return (
    <>
      <Form
        submitLabel={settings.cap_points === 0 ? 'Allow' : 'Save'}
        onCancel={onClose}
        onSubmit={async (values) => {
          setNeedsCard(false);
          const { price_per_1000, currency } = offer;
          const body = { cap_points: wholeIn(values[FIELD] ?? '', FIELD), price_per_1000, currency };
          try {
            return await resultOf(api.PUT('/api/console/overage', { body }));
          } catch (error) {
            // The price that is shown may be what has changed.
            void client.invalidateQueries({ queryKey: OVERAGE_KEY });
            if (!(error instanceof ApiError) || error.problem?.code !== 'no_payment_method') throw error;
            setNeedsCard(true);
            return null;
          }
        }}
        onDone={(done) => {
          if (done === null) return;
          client.setQueryData(overageQuery.queryKey, done.overage);
          onClose();
        }}
      >
        {(errors) => (
          <>
            <TextField
              label="Further points per billing period, at most"
              name={FIELD}
              inputMode="numeric"
              autoComplete="off"
              maxLength={20}
              defaultValue={saved}
              description={`${perThousand(offer)}.`}
              error={errors[FIELD]}
              onChange={setTyped}
            />
            <p role="status">
              {cost.data !== undefined && cost.data > 0 && (
                <>At most {formatAmount(cost.data, offer)} in each billing period, without tax.</>
              )}
            </p>
            <p className={page['muted']}>
              Your saved card is charged for what you have used, when the billing period ends. You can turn
              this off at any time.
            </p>
          </>
        )}
      </Form>
      {needsCard && <AddCard>You have no saved card. Add one, then allow further points.</AddCard>}
    </>
  );
}

function wholeOrNothing(text: string): number | undefined {
  try {
    return wholeIn(text, FIELD);
  } catch {
    return undefined;
  }
}
