import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { counted, formatNumber } from '../../../ui/format.ts';
import page from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage } from '../../../ui/page/states.tsx';
import { Charges } from './charges.tsx';
import { OverageForm } from './overage-form.tsx';
import { perThousand } from './price.ts';
import { OVERAGE_KEY, chargesQuery, overageQuery } from './queries.ts';
import type { Overage as Settings, OverageCharge } from './queries.ts';
import { formatAmount } from '../credits/price.ts';

/** Points beyond the included ones: whether they are allowed, and what they cost. Nothing where there are none. */
export function Overage() {
  const settings = useQuery(overageQuery);
  const charges = useQuery(chargesQuery);
  const failed = [settings, charges].find(({ data, isError }) => isError && data === undefined);
  if (failed === undefined && (settings.data === undefined || charges.data === undefined)) return null;
  const isUnused = settings.data?.offer === null && settings.data.cap_points === 0;
  if (isUnused && charges.data?.length === 0) return null;
  return (
    <section className={page['card']} aria-labelledby="overage">
      <h2 id="overage">Further points</h2>
      {failed !== undefined && (
        <ErrorMessage error={failed.error} what="further points" onRetry={() => void failed.refetch()} />
      )}
      {settings.data !== undefined && charges.data !== undefined && (
        <Loaded settings={settings.data} charges={charges.data} />
      )}
    </section>
  );
}

type LoadedProps = { settings: Settings; charges: readonly OverageCharge[] };

function Loaded({ settings, charges }: LoadedProps) {
  const client = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const stopping = useMutation({
    mutationFn: () => resultOf(api.PUT('/api/console/overage', { body: { cap_points: 0 } })),
    onSuccess: ({ overage }) => {
      client.setQueryData(overageQuery.queryKey, overage);
      void client.invalidateQueries({ queryKey: OVERAGE_KEY });
    },
  });
  const { offer } = settings;
  const isOn = settings.cap_points > 0;
  return (
    <>
      <State settings={settings} />
      <Used settings={settings} />
      {stopping.isError && <ErrorMessage error={stopping.error} isChange />}
      {isEditing && offer !== null ? (
        <OverageForm
          settings={settings}
          offer={offer}
          onClose={() => {
            setEditing(false);
          }}
        />
      ) : (
        <div className={page['actions']}>
          {offer !== null && (
            <Button
              onPress={() => {
                setEditing(true);
              }}
            >
              {isOn ? 'Change the limit' : 'Allow further points'}
            </Button>
          )}
          {isOn && (
            <Button
              isPending={stopping.isPending}
              onPress={() => {
                stopping.mutate();
              }}
            >
              Turn off
            </Button>
          )}
        </div>
      )}
      <Charges charges={charges} />
    </>
  );
}

function State({ settings: { offer, cap_points, stopped_by } }: { settings: Settings }) {
  if (cap_points > 0 && stopped_by !== null) {
    return (
      <p role="alert">
        <Badge tone="danger">Stopped</Badge> {REASONS[stopped_by]}
        {stopped_by === 'price_changed' && offer !== null && (
          <> They cost {perThousand(offer)} now. Set your limit again to agree to it.</>
        )}
      </p>
    );
  }
  if (cap_points > 0) {
    return (
      <p>
        <Badge tone="good">On</Badge> Once your plan’s points and your credits are used up, calls use up to{' '}
        {counted(cap_points, 'further point')} in each billing period
        {offer !== null && <>, at {perThousand(offer)}</>}.
      </p>
    );
  }
  if (offer === null) return null;
  return (
    <p>
      <Badge tone="neutral">Off</Badge> Calls are refused once your plan’s points and your credits are used
      up. Allow further points at {perThousand(offer)}, and they go on.
    </p>
  );
}

const REASONS = {
  not_offered: 'Your present plan sells no further points.',
  price_changed: 'The price of further points has changed.',
  unpaid: 'An invoice for further points isn’t paid. Pay it below, under Invoices.',
} as const satisfies Record<NonNullable<Settings['stopped_by']>, string>;

/** In the present period. */
function Used({ settings: { offer, cap_points, points_used, amount, max_amount } }: { settings: Settings }) {
  if (offer === null || (cap_points === 0 && points_used === 0)) return null;
  return (
    <p className={page['muted']}>
      This billing period: {formatNumber(points_used)}
      {cap_points > 0 && ` of ${formatNumber(cap_points)}`} used, {formatAmount(amount, offer)}
      {cap_points > 0 && ` of ${formatAmount(max_amount, offer)}`} without tax, charged when it ends.
    </p>
  );
}
