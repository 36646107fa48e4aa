import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { counted } from '../../../ui/format.ts';
import { Moment } from '../../../ui/moment.tsx';
import page from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { formatAmount } from '../credits/price.ts';
import { packsQuery } from '../credits/queries.ts';
import type { Pack } from '../credits/queries.ts';
import { Attempts } from './attempts.tsx';
import { topUpQuery } from './queries.ts';
import type { TopUpSettings } from './queries.ts';
import { TopUpForm } from './top-up-form.tsx';

/** Buying a pack whenever few points are left: whether it is on, what it has bought, and its settings. */
export function TopUp() {
  const settings = useQuery(topUpQuery);
  const packs = useQuery(packsQuery);
  const failed = [settings, packs].find(({ data, isError }) => isError && data === undefined);
  const isUnused = settings.data === null || settings.data?.is_on === false;
  if (isUnused && packs.data?.length === 0) return null;
  return (
    <section className={page['card']} aria-labelledby="top-up">
      <h2 id="top-up">Automatic top-up</h2>
      {failed !== undefined && (
        <ErrorMessage error={failed.error} what="automatic top-up" onRetry={() => void failed.refetch()} />
      )}
      {failed === undefined && (settings.data === undefined || packs.data === undefined) && <Skeleton />}
      {settings.data !== undefined && packs.data !== undefined && (
        <Loaded settings={settings.data} packs={packs.data} />
      )}
    </section>
  );
}

type LoadedProps = { settings: TopUpSettings | null; packs: readonly Pack[] };

function Loaded({ settings, packs }: LoadedProps) {
  const client = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const stopping = useMutation({
    mutationFn: () => resultOf(api.POST('/api/console/top-up/stop')),
    onSuccess: ({ top_up }) => {
      client.setQueryData(topUpQuery.queryKey, top_up);
      void client.invalidateQueries({ queryKey: ['top-up', 'attempts'] });
    },
  });
  const isOn = settings?.is_on === true;
  return (
    <>
      {isOn ? (
        <State settings={settings} pack={packs.find(({ pack_id }) => pack_id === settings.pack_id)} />
      ) : (
        <p>
          <Badge tone="neutral">Off</Badge> Buy a pack with your saved card whenever few points are left, so
          that your calls aren’t refused.
        </p>
      )}
      {stopping.isError && <ErrorMessage error={stopping.error} isChange />}
      {isEditing ? (
        <TopUpForm
          settings={settings}
          packs={packs}
          onClose={() => {
            setEditing(false);
          }}
        />
      ) : (
        <div className={page['actions']}>
          {packs.length > 0 && (
            <Button
              onPress={() => {
                setEditing(true);
              }}
            >
              {isOn ? 'Change automatic top-up' : 'Set up automatic top-up'}
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
      <Attempts />
    </>
  );
}

function State({ settings, pack }: { settings: TopUpSettings; pack: Pack | undefined }) {
  const { threshold_points, max_times, max_amount, times, amount, paused_for, not_before } = settings;
  const isPaused = paused_for !== null;
  return (
    <>
      <p>
        <Badge tone={isPaused ? 'danger' : 'good'}>{isPaused ? 'Paused' : 'On'}</Badge> The pack{' '}
        {pack !== undefined && (
          <>
            “<bdi>{pack.name}</bdi>”{' '}
          </>
        )}
        is bought when fewer than {counted(threshold_points, 'point')} are left.
      </p>
      {pack !== undefined && (
        <p className={page['muted']}>
          This month: {times} of {counted(max_times, 'purchase')}, {formatAmount(amount, pack)} of{' '}
          {formatAmount(max_amount, pack)} without tax.
        </p>
      )}
      {isPaused && (
        <p role="alert">
          {REASONS[paused_for] ?? DECLINED} <Next reason={paused_for} />
        </p>
      )}
      {!isPaused && not_before !== null && <Waiting settings={settings} pack={pack} until={not_before} />}
    </>
  );
}

type WaitingProps = { settings: TopUpSettings; pack: Pack | undefined; until: string };

/** After a decline, or because another purchase would exceed what the month may cost. */
function Waiting({ settings: { times, max_times, amount, max_amount }, pack, until }: WaitingProps) {
  const isLimitReached = times >= max_times || (pack !== undefined && amount + pack.unit_amount > max_amount);
  return isLimitReached ? (
    <p>
      The limit of this month is reached. Buying continues <Moment at={until} />.
    </p>
  ) : (
    <p role="alert">
      {DECLINED} The next attempt is <Moment at={until} />. If you add another card or buy a pack, it is made
      at once.
    </p>
  );
}

const DECLINED = 'Your card was declined.';

const REASONS: Readonly<Record<string, string>> = {
  authentication_required: 'Your bank asks you to confirm the payment yourself.',
  no_payment_method: 'There is no saved card.',
  pack_withdrawn: 'The pack can’t be bought automatically any more.',
};

function Next({ reason }: { reason: string }) {
  if (reason === 'pack_withdrawn') return 'Choose another one.';
  if (reason === 'authentication_required') return 'Buy a pack above, or add another card, to resume.';
  return 'Add another card or buy a pack to resume.';
}
