import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CheckboxField } from '../../ui/form/checkbox-field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import styles from '../../ui/page/page.module.css';
import { MODES, SLOT_MODES, modeOf, settingsOf } from './form-values.ts';
import { alertsQuery } from './queries.ts';
import type { AlertLimit, AlertSettings } from './queries.ts';
import { LIMITS, LIMIT_LABELS, differencesInWords } from './settings-text.ts';

type AlertFormProps = { settings: AlertSettings; onRestart: (settings: AlertSettings) => void };

/** The settings, saved when you say so; a change made elsewhere meanwhile is shown, never overwritten unseen. */
export function AlertForm({ settings, onRestart }: AlertFormProps) {
  const { data: session } = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [seen, setSeen] = useState(settings);
  const [conflict, setConflict] = useState<{ before: AlertSettings; now: AlertSettings } | null>(null);
  const [isSaved, setSaved] = useState(false);
  async function save(values: Readonly<Record<string, string>>) {
    setSaved(false);
    const body = { ...settingsOf(values), version: seen.version };
    try {
      return await resultOf(api.PUT('/api/console/alerts', { body }));
    } catch (error) {
      if (error instanceof ApiError && error.problem?.code === 'edit_conflict') {
        const now = await resultOf(api.GET('/api/console/alerts'));
        setConflict({ before: seen, now });
        setSeen(now);
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
        onDone={(saved) => {
          queryClient.setQueryData(alertsQuery.queryKey, saved);
          setSeen(saved);
          setConflict(null);
          setSaved(true);
        }}
      >
        {(errors) => (
          <>
            <CheckboxField
              label="Send alerts by email"
              name="mail"
              defaultChecked={settings.mail}
              description={`To ${session?.email ?? 'your address'}. All of your webhooks get every alert.`}
            />
            <ThresholdsField
              label="Default thresholds"
              name="shares"
              shares={settings.shares}
              error={errors['shares']}
            />
            {LIMITS.map((limit) => (
              <LimitFields
                key={limit}
                limit={limit}
                shares={settings.limits[limit]}
                error={errors[`shares_${limit}`] ?? errors[`limits.${limit}`]}
              />
            ))}
          </>
        )}
      </Form>
      <p role="status">{isSaved && 'Saved.'}</p>
      <p>
        To get alerts on your server, <Link to="/webhooks">create a webhook</Link>.
      </p>
    </section>
  );
}

type ThresholdsFieldProps = {
  label: string;
  name: string;
  shares: readonly number[];
  error: string | undefined;
};

function ThresholdsField({ label, name, shares, error }: ThresholdsFieldProps) {
  return (
    <TextField
      label={label}
      name={name}
      autoComplete="off"
      defaultValue={shares.join(', ')}
      description="Percent of the limit, from 1 to 100, separated by commas."
      error={error}
      isRequired={name !== 'shares'}
    />
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
