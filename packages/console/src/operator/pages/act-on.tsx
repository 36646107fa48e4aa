import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { REASON } from '../api/reason.ts';
import { Held } from './held.tsx';
import { isWaiting } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

type Values = Readonly<Record<string, string>>;

type ActOnProps = {
  /** What is read again afterwards. */
  queryKey: readonly unknown[];
  action: string;
  /** Of a row's button: the row, for those who only hear its name. */
  row?: string;
  title: string;
  /** What is typed to confirm what can't be undone, and what it is. */
  typed?: { name: string; of: string };
  needsReason?: boolean;
  isReasonMailed?: boolean;
  /** Whether the button stands out. */
  isDangerous?: boolean;
  /** What else is asked. */
  fields?: (errors: Readonly<Record<string, string | undefined>>) => ReactNode;
  act: (reason: string, values: Values) => Promise<unknown>;
  /** What it does. */
  children: ReactNode;
};

/** A button and its dialog, which asks why. */
export function ActOn({
  queryKey,
  action,
  row,
  title,
  typed,
  needsReason = false,
  isReasonMailed = false,
  isDangerous = typed !== undefined && row === undefined,
  fields,
  act,
  children,
}: ActOnProps) {
  const [isOpen, setOpen] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const queryClient = useQueryClient();
  return (
    <>
      {isHeld && <Held />}
      <Button
        variant={isDangerous ? 'danger' : 'secondary'}
        {...(row === undefined ? {} : { 'aria-label': `${action}: ${row}` })}
        onPress={() => {
          setOpen(true);
        }}
      >
        {action}
      </Button>
      <ConfirmByName
        title={title}
        name={typed?.name ?? ''}
        of={typed?.of ?? ''}
        action={action}
        isOpen={isOpen}
        asksName={typed !== undefined}
        fields={(errors) => (
          <>
            {fields?.(errors)}
            <ReasonField errors={errors} isRequired={needsReason} isMailed={isReasonMailed} />
          </>
        )}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={async (values) => {
          setHeld(isWaiting(await act(values[REASON] ?? '', values)));
        }}
        onDone={() => void queryClient.invalidateQueries({ queryKey: [...queryKey] })}
      >
        <p>{children}</p>
      </ConfirmByName>
    </>
  );
}
