import { buildBoard } from './board.ts';
import { BOARDS } from './boards.ts';
import { DATA_BOARDS } from './data-boards.ts';

/** Each dashboard's JSON by file name. */
export function dashboardFiles(): Record<string, string> {
  return Object.fromEntries(
    [...BOARDS, ...DATA_BOARDS].map((board) => [
      `${board.uid.replace('tollgate-', '')}.json`,
      `${JSON.stringify(buildBoard(board), null, 2)}\n`,
    ]),
  );
}
