import type { ReactNode } from 'react';
import { Dialog } from '../dialog.tsx';
import { FieldError } from './field-error.ts';
import { Form } from './form.tsx';
import { TextField } from './text-field.tsx';

type ConfirmByNameProps = {
  title: ReactNode;
  /** What is typed to confirm, and what it is: "application". */
  name: string;
  of: string;
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: (values: Readonly<Record<string, string>>) => Promise<unknown>;
  onDone?: () => void;
  /** Not for what was never in use, or can be made again. */
  asksName?: boolean;
  /** What else is asked. */
  fields?: (errors: Readonly<Record<string, string | undefined>>) => ReactNode;
  /** What stops working. */
  children: ReactNode;
};

/** A dialog for what can't be undone: it says what stops working and asks for the name of what is in use. */
export function ConfirmByName({
  title,
  name,
  of,
  action,
  isOpen,
  onClose,
  onConfirm,
  onDone,
  asksName = true,
  fields,
  children,
}: ConfirmByNameProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      {children}
      <Form
        submitLabel={action}
        isDangerous
        onCancel={onClose}
        onSubmit={(values) => {
          if (!asksName || values['confirmation']?.trim() === name.trim()) return onConfirm(values);
          throw new FieldError('confirmation', `This is not the name of the ${of}.`);
        }}
        onDone={() => {
          onClose();
          onDone?.();
        }}
      >
        {(errors) => (
          <>
            {asksName && (
              <TextField
                label={
                  <>
                    Type "<bdi>{name}</bdi>" to confirm
                  </>
                }
                name="confirmation"
                autoComplete="off"
                error={errors['confirmation']}
                maxLength={500}
                autoFocus
              />
            )}
            {fields?.(errors)}
          </>
        )}
      </Form>
    </Dialog>
  );
}
