import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { ApiError, api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CheckboxField } from '../../ui/form/checkbox-field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { formatNumber } from '../../ui/format.ts';
import styles from '../../ui/page/page.module.css';
import { MODES, SLOT_MODES, modeOf, settingsOf } from './form-values.ts';
import { webhooksQuery } from '../webhooks/queries.ts';
import { alertsQuery } from './queries.ts';
import type { AlertLimit, AlertSettings } from './queries.ts';
import { LIMIT_LABELS, differencesInWords } from './settings-text.ts';
import { ThresholdsField } from './thresholds-field.tsx';

type AlertFormProps = { settings: AlertSettings; onRestart: (settings: AlertSettings) => void };

/** The settings, saved when you say so; a change made elsewhere meanwhile is shown, never overwritten unseen. */
export function AlertForm({ settings, onRestart }: AlertFormProps) {
  const { data: session } = useQuery(sessionQuery);
  const { data: webhooks } = useQuery(webhooksQuery);
  const queryClient = useQueryClient();
  // The fields begin anew with what was saved: a threshold that was typed is one to tick now.
  const [saved, setSaved] = useState(settings);
  const [conflict, setConflict] = useState<{ before: AlertSettings; now: AlertSettings } | null>(null);
  const [isConfirmed, setConfirmed] = useState(false);
  const seen = conflict?.now ?? saved;
  async function save(values: Readonly<Record<string, string>>) {
    setConfirmed(false);
    const body = { ...settingsOf(values, seen), version: seen.version };
    try {
      return await resultOf(api.PUT('/api/console/alerts', { body }));
    } catch (error) {
      if (error instanceof ApiError && error.problem?.code === 'edit_conflict') {
        const now = await resultOf(api.GET('/api/console/alerts'));
        setConflict({ before: seen, now });
      }
      throw error;
    }
  }
  return (
    <section className={styles['card']} aria-label="Settings">
      {conflict !== null && <Conflict {...conflict} onDiscard={onRestart} />}
      <Form
        submitLabel="Save"
        onSubmit={save}
        onDone={(stored) => {
          queryClient.setQueryData(alertsQuery.queryKey, stored);
          setSaved(stored);
          setConflict(null);
          setConfirmed(true);
        }}
      >
        {(errors) => (
          <Fragment key={saved.version}>
            <CheckboxField
              label="Send alerts by email"
              name="mail"
              defaultChecked={saved.mail}
              description={`To ${session?.email ?? 'your address'}.`}
            />
            <ThresholdsField
              label="Default thresholds"
              name="shares"
              shares={saved.shares}
              error={errors['shares']}
            />
            {settings.plan_limits.map((limit) => (
              <LimitFields
                key={limit}
                limit={limit}
                shares={saved.limits[limit]}
                error={errors[`shares_${limit}`] ?? errors[`limits.${limit}`]}
              />
            ))}
            {settings.plan_limits.length === 0 && (
              <p className={styles['muted']}>
                Your plan has no limits to send alerts for. <Link to="/plan">View plans</Link>
              </p>
            )}
          </Fragment>
        )}
      </Form>
      <p role="status">{isConfirmed && 'Saved.'}</p>
      {webhooks !== undefined && (
        <WebhookRecipients enabled={webhooks.filter(({ enabled }) => enabled).length} />
      )}
    </section>
  );
}

/** Besides the address, which the form has. */
function WebhookRecipients({ enabled }: { enabled: number }) {
  if (enabled === 0)
    return (
      <p>
        To get alerts on your server, too, <Link to="/webhooks">create a webhook</Link>.
      </p>
    );
  return (
    <p>
      {enabled === 1 ? 'Your webhook gets' : `Your ${formatNumber(enabled)} webhooks get`} every alert, too.{' '}
      <Link to="/webhooks">View webhooks</Link>
    </p>
  );
}

type LimitFieldsProps = {
  limit: AlertLimit;
  shares: readonly number[] | undefined;
  error: string | undefined;
};

function LimitFields({ limit, shares, error }: LimitFieldsProps) {
  const [mode, setMode] = useState<string>(modeOf(limit, shares));
  return (
    <>
      <SelectField
        label={LIMIT_LABELS[limit]}
        name={`mode_${limit}`}
        options={limit === 'team_slots_limit' ? SLOT_MODES : MODES}
        value={mode}
        onChange={setMode}
      />
      {mode === 'own' && (
        <ThresholdsField
          label={`${LIMIT_LABELS[limit]}: thresholds`}
          name={`shares_${limit}`}
          shares={shares ?? []}
          error={error}
        />
      )}
    </>
  );
}

type ConflictProps = {
  before: AlertSettings;
  now: AlertSettings;
  onDiscard: (settings: AlertSettings) => void;
};

function Conflict({ before, now, onDiscard }: ConflictProps) {
  return (
    <div role="alert" className={styles['secret']}>
      <div>
        <p>These settings were changed elsewhere while you edited them. Yours are not saved.</p>
        <ul>
          {differencesInWords(before, now).map((difference) => (
            <li key={difference}>{difference}</li>
          ))}
        </ul>
        <p>Save again to replace them with yours.</p>
      </div>
      <Button
        onPress={() => {
          onDiscard(now);
        }}
      >
        Discard mine
      </Button>
    </div>
  );
}
