import { useState } from 'react';
import { FieldError, Input, Label, Text, TextField as AriaTextField } from 'react-aria-components';
import { Button } from '../button.tsx';
import styles from './field.module.css';

type TextFieldProps = {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password';
  autoComplete: string;
  description?: string;
  defaultValue?: string;
  /** What the API found wrong with this field. */
  error: string | undefined;
  autoFocus?: boolean;
  /** `numeric`: phones show digits. */
  inputMode?: 'numeric';
  maxLength?: number;
  isRequired?: boolean;
};

/** A labelled field with its description and error. A password can be shown. */
export function TextField({
  label,
  description,
  error,
  type = 'text',
  maxLength,
  isRequired = true,
  ...props
}: TextFieldProps) {
  const [shown, setShown] = useState(false);
  const isPassword = type === 'password';
  return (
    <AriaTextField
      {...props}
      type={isPassword && shown ? 'text' : type}
      isRequired={isRequired}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={styles['field'] ?? ''}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <span className={styles['row']}>
        <Input className={styles['input'] ?? ''} maxLength={maxLength ?? 200} spellCheck={false} />
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
      {description !== undefined && (
        <Text slot="description" className={styles['description'] ?? ''}>
          {description}
        </Text>
      )}
      <FieldError className={styles['error'] ?? ''}>{error}</FieldError>
    </AriaTextField>
  );
}
