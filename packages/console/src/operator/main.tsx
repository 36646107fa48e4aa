import { mount } from '../mount.tsx';
import { takeAnswerFromAddress, takeLinkFromAddress } from './api/session.ts';
import { OperatorConsole } from './operator-console.tsx';

mount(<OperatorConsole link={takeLinkFromAddress()} answer={takeAnswerFromAddress()} />);
