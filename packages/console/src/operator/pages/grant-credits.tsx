import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import page from '../../ui/page/page.module.css';
import { REASON } from '../api/reason.ts';
import { Held } from './held.tsx';
import { grantCredits, isWaiting } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

const SOURCES = [
  { value: 'compensation', label: 'Compensation' },
  { value: 'promotion', label: 'Promotion' },
] as const;

/** Points beside the plan's, which don't expire. */
export function GrantCredits({ accountId }: { accountId: number }) {
  const queryClient = useQueryClient();
  // One for each grant that is meant: a request that is sent again grants nothing more.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isHeld, setHeld] = useState(false);
  return (
    <section className={page['card']} aria-labelledby="grant">
      <h2 id="grant">Grant credits</h2>
      {isHeld && <Held />}
      <Form
        key={key}
        submitLabel="Grant"
        onSubmit={(values) => {
          const points = Number(values['points']?.trim());
          if (!Number.isSafeInteger(points) || points < 1) {
            throw new FieldError('points', 'Enter a whole number of at least 1.');
          }
          const source = values['source'] === 'promotion' ? 'promotion' : 'compensation';
          const { note = '', [REASON]: reason = '' } = values;
          return grantCredits(accountId, { points, source, note, reason }, key);
        }}
        onDone={(result) => {
          setHeld(isWaiting(result));
          setKey(crypto.randomUUID());
          void queryClient.invalidateQueries({ queryKey: ['account', accountId] });
        }}
      >
        {(errors) => (
          <>
            <TextField
              label="Points"
              name="points"
              autoComplete="off"
              inputMode="numeric"
              error={errors['points']}
            />
            <SelectField label="Source" name="source" options={SOURCES} defaultValue="compensation" />
            <TextField
              label="Note"
              name="note"
              autoComplete="off"
              description="The customer sees it."
              error={errors['note']}
            />
            <ReasonField errors={errors} />
          </>
        )}
      </Form>
    </section>
  );
}
