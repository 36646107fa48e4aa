import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { requestIdIn } from './search.ts';
import type { RequestsSearch } from './search.ts';
import styles from './requests.module.css';

type RequestIdSearchProps = {
  requestId: string | undefined;
  /** Whether it was used before: a search makes a new field, which takes the focus of the former. */
  hasFocus: boolean;
  onSearch: (search: RequestsSearch) => void;
};

/** Finds the call of a response: its request id is in `X-Request-Id` and in the error itself. */
export function RequestIdSearch({ requestId, hasFocus, onSearch }: RequestIdSearchProps) {
  const [error, setError] = useState<string | undefined>(undefined);
  function find(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const input = event.currentTarget.elements.namedItem('request_id') as HTMLInputElement;
    const found = requestIdIn(input.value);
    if (found === null) {
      setError('A request ID has 32 characters: 0 to 9 and a to f.');
      input.focus();
      return;
    }
    setError(undefined);
    onSearch({ request_id: found });
  }
  return (
    <form role="search" aria-label="By request ID" onSubmit={find} noValidate className={styles['search']}>
      <TextField
        label="Request ID"
        name="request_id"
        autoComplete="off"
        description="Paste the X-Request-Id of the response you got."
        error={error}
        autoFocus={hasFocus}
        {...(requestId === undefined ? {} : { defaultValue: requestId })}
      />
      <div className={styles['buttons']}>
        <Button isReading type="submit">
          Find call
        </Button>
        {requestId !== undefined && (
          <Button
            isReading
            variant="quiet"
            onPress={() => {
              onSearch({});
            }}
          >
            Show all calls
          </Button>
        )}
      </div>
    </form>
  );
}
