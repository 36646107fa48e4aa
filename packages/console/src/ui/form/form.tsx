import { useMutation } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { isViewing } from '../../api/viewing.ts';
import { Button } from '../button.tsx';
import { ErrorMessage } from '../page/states.tsx';
import { WasAttempted, isFaulty } from './attempt.ts';
import { FieldError } from './field-error.ts';
import styles from './form.module.css';

/** What the API found wrong, by field name. */
type FieldErrors = Readonly<Record<string, string | undefined>>;

type FormProps<T> = {
  submitLabel: string;
  /** Sends the form; an ApiError's `errors` go to their fields. */
  onSubmit: (values: Readonly<Record<string, string>>) => Promise<T>;
  onDone: (result: T) => void;
  onCancel?: () => void;
  /** Problem codes that belong to a field: `{ already_member: 'email' }`. */
  fieldOfCode?: Readonly<Record<string, string>>;
  isDangerous?: boolean;
  children: (errors: FieldErrors) => ReactNode;
};

/**
 * A form that is sent once at a time, keeps what was typed, and takes the focus to the first faulty field. It isn't sent
 * while a field is known to be wrong.
 */
export function Form<T>({
  submitLabel,
  onSubmit,
  onDone,
  onCancel,
  fieldOfCode = {},
  isDangerous = false,
  children,
}: FormProps<T>) {
  const form = useRef<HTMLFormElement>(null);
  const mutation = useMutation({ mutationFn: onSubmit, onSuccess: onDone });
  const errors = fieldErrorsOf(mutation.error, fieldOfCode);
  const [isAtFields, setAtFields] = useState(false);
  const [attempts, setAttempts] = useState(0);
  useLayoutEffect(() => {
    if (attempts > 0) focusFault(form.current);
  }, [attempts]);
  useLayoutEffect(() => {
    const { current } = form;
    if (!mutation.isError || current === null) return;
    const fields = Object.keys(fieldErrorsOf(mutation.error, fieldOfCode));
    // A token from the address has no field to stand at.
    setAtFields(fields.length > 0 && fields.every((name) => current.elements.namedItem(name) !== null));
    focusFault(current);
  }, [mutation.isError, mutation.submittedAt]);
  return (
    <form
      ref={form}
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (mutation.isPending) return;
        if ([...event.currentTarget.querySelectorAll<HTMLElement>('[data-fault]')].some(isFaulty)) {
          setAttempts(attempts + 1);
          return;
        }
        const entries = [...new FormData(event.currentTarget).entries()];
        mutation.mutate(
          Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : ''])),
        );
      }}
    >
      <WasAttempted value={attempts > 0}>
        {isViewing ? (
          <fieldset disabled className={styles['fields']}>
            {children(errors)}
          </fieldset>
        ) : (
          children(errors)
        )}
      </WasAttempted>
      {mutation.isError && !isAtFields && <ErrorMessage error={mutation.error} isChange />}
      {!isViewing && (
        <div className={styles['actions']}>
          <Button type="submit" variant={isDangerous ? 'danger' : 'primary'} isPending={mutation.isPending}>
            {submitLabel}
          </Button>
          {onCancel !== undefined && <Button onPress={onCancel}>Cancel</Button>}
        </div>
      )}
    </form>
  );
}

function focusFault(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

function fieldErrorsOf(error: unknown, fieldOfCode: Readonly<Record<string, string>>): FieldErrors {
  if (error instanceof FieldError) return { [error.field]: error.message };
  if (!(error instanceof ApiError)) return {};
  const fieldOfProblem = fieldOfCode[error.problem?.code ?? ''];
  if (fieldOfProblem !== undefined) return { [fieldOfProblem]: error.message };
  const found = error.problem?.errors ?? [];
  return Object.fromEntries(
    found.filter(({ field }) => field !== '').map(({ field, message }) => [field, message]),
  );
}
