import { useContext, useState } from 'react';
import type { ReactNode } from 'react';
import { FieldError, Input, Label, Text, TextField as AriaTextField } from 'react-aria-components';
import { Button } from '../button.tsx';
import { WasAttempted } from './attempt.ts';
import { isBeingPressed } from './is-being-pressed.ts';
import { valueFault } from './value-fault.ts';
import styles from './field.module.css';

/** RFC 5321 leaves no room for a longer address. */
const EMAIL_MAX_LENGTH = 254;

type TextFieldProps = {
  label: ReactNode;
  name: string;
  type?: 'text' | 'email' | 'password';
  autoComplete: string;
  description?: string;
  defaultValue?: string;
  /** What the API found wrong with this field: a sentence, or what follows the label ("must be …"). */
  error: string | undefined;
  autoFocus?: boolean;
  /** `numeric`: phones show digits. */
  inputMode?: 'numeric';
  maxLength?: number;
  onChange?: (value: string) => void;
  isRequired?: boolean;
};

/**
 * A labelled field with its description and error. What the page itself can tell is said when the field is left. A
 * password can be shown.
 */
export function TextField({
  label,
  description,
  error,
  type = 'text',
  maxLength = type === 'email' ? EMAIL_MAX_LENGTH : 200,
  isRequired = true,
  defaultValue = '',
  onChange,
  ...props
}: TextFieldProps) {
  const [shown, setShown] = useState(false);
  const [value, setValue] = useState(defaultValue);
  const [wasLeft, setLeft] = useState(false);
  const isPassword = type === 'password';
  const fault = valueFault({ value, type, isRequired, autoComplete: props.autoComplete });
  const wasAttempted = useContext(WasAttempted);
  const isRefused = error !== undefined;
  const message = (isRefused || wasLeft || wasAttempted ? fault : undefined) ?? sentenceOf(label, error);
  return (
    <AriaTextField
      {...props}
      defaultValue={defaultValue}
      type={isPassword && shown ? 'text' : type}
      isRequired={isRequired}
      isInvalid={message !== undefined}
      validationBehavior="aria"
      onChange={(text) => {
        setValue(text);
        onChange?.(text);
      }}
      onBlur={({ relatedTarget }) => {
        // A message would move the button away from the pointer that presses it; the answer says the same.
        // Who only passes through an empty field has made no mistake yet.
        if (!isBeingPressed(relatedTarget) && value !== defaultValue) setLeft(true);
      }}
      className={styles['field'] ?? ''}
      data-fault={fault === undefined ? undefined : value.trim() === '' ? 'empty' : 'wrong'}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <span className={styles['row']}>
        <Input className={styles['input'] ?? ''} maxLength={maxLength} spellCheck={false} />
        {isPassword && (
          <Button
            variant="quiet"
            aria-label={shown ? 'Hide password' : 'Show password'}
            onPress={() => {
              setShown(!shown);
            }}
          >
            {shown ? 'Hide' : 'Show'}
          </Button>
        )}
      </span>
      {/* The message says the same, or something more urgent. */}
      {description !== undefined && message === undefined && (
        <Text slot="description" className={styles['description'] ?? ''}>
          {description}
        </Text>
      )}
      <FieldError className={styles['error'] ?? ''}>{message}</FieldError>
    </AriaTextField>
  );
}

/** The API says what is wrong without naming the field: "must be …". */
function sentenceOf(label: ReactNode, error: string | undefined): ReactNode {
  if (error === undefined || !/^[a-z]/.test(error)) return error;
  return (
    <>
      {label} {error}.
    </>
  );
}
