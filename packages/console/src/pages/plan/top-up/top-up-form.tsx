import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, resultOf } from '../../../api/client.ts';
import { Form } from '../../../ui/form/form.tsx';
import { SelectField } from '../../../ui/form/select-field.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import page from '../../../ui/page/page.module.css';
import { amountIn, typedAmount, wholeIn } from '../amount.ts';
import { formatAmount } from '../credits/price.ts';
import type { Pack } from '../credits/queries.ts';
import { AddCard } from '../payment/add-card.tsx';
import { topUpQuery } from './queries.ts';
import type { TopUpSettings } from './queries.ts';

type TopUpFormProps = { settings: TopUpSettings | null; packs: readonly Pack[]; onClose: () => void };

/** A month's limit that is suggested, in packs. */
const SUGGESTED_TIMES = 3;

export function TopUpForm({ settings, packs, onClose }: TopUpFormProps) {
  const client = useQueryClient();
  const [needsCard, setNeedsCard] = useState(false);
  const [first] = packs;
  const isOffered = packs.some(({ pack_id }) => pack_id === settings?.pack_id);
  const [chosen, setChosen] = useState(String((isOffered ? settings?.pack_id : undefined) ?? first?.pack_id));
  const pack = packs.find(({ pack_id }) => String(pack_id) === chosen) ?? first;
  if (pack === undefined) return null;
  return (
    <>
      <Form
        submitLabel={settings?.is_on === true ? 'Save' : 'Turn on'}
        onCancel={onClose}
        onSubmit={async (values) => {
          setNeedsCard(false);
          const body = {
            pack_id: pack.pack_id,
            threshold_points: wholeIn(values['threshold_points'] ?? '', 'threshold_points'),
            max_times: wholeIn(values['max_times'] ?? '', 'max_times'),
            max_amount: amountIn(values['max_amount'] ?? '', 'max_amount', pack),
          };
          try {
            return await resultOf(api.PUT('/api/console/top-up', { body }));
          } catch (error) {
            if (!(error instanceof ApiError) || error.problem?.code !== 'no_payment_method') throw error;
            setNeedsCard(true);
            return null;
          }
        }}
        onDone={(saved) => {
          if (saved === null) return;
          client.setQueryData(topUpQuery.queryKey, saved.top_up);
          onClose();
        }}
      >
        {(errors) => (
          <>
            <SelectField
              label="Pack"
              name="pack_id"
              options={packs.map((one) => ({
                value: String(one.pack_id),
                label: `${one.name} for ${formatAmount(one.unit_amount, one)}`,
              }))}
              value={chosen}
              onChange={setChosen}
            />
            <TextField
              label="Buy when fewer points are left than"
              name="threshold_points"
              inputMode="numeric"
              autoComplete="off"
              maxLength={20}
              defaultValue={settings === null ? '' : String(settings.threshold_points)}
              error={errors['threshold_points']}
            />
            <TextField
              label="Purchases per month, at most"
              name="max_times"
              inputMode="numeric"
              autoComplete="off"
              maxLength={4}
              defaultValue={String(settings?.max_times ?? SUGGESTED_TIMES)}
              error={errors['max_times']}
            />
            <TextField
              label={`Amount per month, at most (${pack.currency.toUpperCase()}, without tax)`}
              name="max_amount"
              autoComplete="off"
              maxLength={16}
              defaultValue={typedAmount(settings?.max_amount ?? SUGGESTED_TIMES * pack.unit_amount, pack)}
              description="Months are calendar months in UTC."
              error={errors['max_amount']}
            />
            <p className={page['muted']}>
              Your saved card is charged without asking you each time. You can turn this off at any time.
            </p>
          </>
        )}
      </Form>
      {needsCard && <AddCard>You have no saved card. Add one, then turn on automatic top-up.</AddCard>}
    </>
  );
}
