import { setTimeout as delay } from 'node:timers/promises';
import type { PayerEntitlement } from '../../../ledger/principal.ts';
import type { Leases } from '../../../ledger/leases.ts';
import { createHeldShare } from './held-share.ts';
import type { HeldShare } from './held-share.ts';
import { RECALL_MS } from '../../../ledger/share-lua.ts';
import type { Need, ShareScripts } from '../../../ledger/share-script.ts';

type ShareOutcome = 'granted' | 'renewed' | 'refused' | 'lost' | 'failed' | 'returned';

export type ShareRequestsOptions = {
  scripts: ShareScripts;
  leases: Pick<Leases, 'hold' | 'newMember'>;
  /** How long a call is admitted without asking Redis, at most MAX_TRUST_MS. */
  trustMs: number;
  onShare?: (outcome: ShareOutcome) => void;
  nowMs: () => number;
};

/** What is said to Redis about one payer's share: one request at a time, since each states what changed since. */
export type ShareRequests = {
  share: () => HeldShare | null;
  /** Asks for a share, or reports on it and renews it, unless a request is under way. */
  sync: (payer: PayerEntitlement, need: Need) => void;
  /** Admits no call before a request that is sent from now on has been answered. */
  suspend: () => void;
  /** Since the last request for a share. */
  sinceSyncMs: () => number;
  isAsking: () => boolean;
  /** Whether Redis refused a share, or recalled one, just now. */
  isQuiet: () => boolean;
  /** Ends the share at once, and returns it. */
  end: () => void;
  /** The same, also of a share that is being asked for, and asks for none for a while. Resolves when Redis has it. */
  recall: () => Promise<void>;
};

/** Doubled by each refusal in a row: a small plan is refused for as long as its calls go on. */
const REFUSED_PAUSE_MS = 300;
const REFUSED_PAUSE_MAX_MS = 5_000;
const RETRY_MS = 50;

/** Redis forgets the slots of a share that isn't returned as soon as it forgets leases, after 8 s. */
const MAX_RETRIES = 200;

export function createShareRequests(options: ShareRequestsOptions): ShareRequests {
  const { scripts, leases, trustMs, onShare, nowMs } = options;
  let share: HeldShare | null = null;
  let asking: Promise<void> | null = null;
  let recalls = 0;
  let suspensions = 0;
  const quiet = createQuietTime(nowMs);
  let sentMs = -Infinity;

  function ask(request: () => Promise<void>): void {
    asking ??= request().finally(() => {
      asking = null;
    });
  }

  async function sync(payer: PayerEntitlement, need: Need): Promise<void> {
    const [held, recallsBefore, suspensionsBefore] = [share, recalls, suspensions];
    sentMs = nowMs();
    const report = held?.report(sentMs) ?? { isHeld: false, used: 0, rateState: '', level: 0 };
    const answer = await scripts.sync(held?.payer ?? payer, report, need).catch(() => 'failed' as const);
    const renewed = typeof answer === 'string' ? null : { grant: answer, sentMs };
    // Its usage may be that of before.
    if (renewed !== null && suspensions !== suspensionsBefore) renewed.sentMs = -Infinity;
    if (renewed !== null || answer === 'refused') held?.reported(report.used, renewed);
    if (held === null && renewed !== null) {
      share = createHeldShare({ payer, ...renewed, trustMs, nowMs, leases });
    }
    onShare?.(typeof answer === 'string' ? answer : held === null ? 'granted' : 'renewed');
    if (renewed === null) quiet.refused();
    else quiet.granted();
    // It may have been granted, and was not used.
    if (share === null && answer === 'failed') await tellUntilTaken(() => scripts.giveBack(payer, 0, []));
    if (share !== null && (renewed === null || share.isEnded() || recalls !== recallsBefore)) {
      await giveBack(share, answer === 'failed');
    }
  }

  /** If a report is uncertain, or a return, then so is what is left to report: Redis counts all of it as used. */
  async function giveBack(given: HeldShare, isUncertain: boolean): Promise<void> {
    given.end();
    share = null;
    let used = isUncertain ? null : given.unreported();
    const isTaken = await tellUntilTaken(async () => {
      const stated = used;
      used = null;
      await scripts.giveBack(given.payer, stated, given.moveSlots());
    });
    if (isTaken) onShare?.('returned');
  }

  return {
    share: () => share,
    sync: (payer, need) => {
      ask(() => sync(payer, need));
    },
    suspend: () => {
      suspensions += 1;
      share?.suspend();
    },
    sinceSyncMs: () => nowMs() - sentMs,
    isAsking: () => asking !== null,
    isQuiet: quiet.lasts,
    end,
    recall: async () => {
      recalls += 1;
      quiet.recalled();
      end();
      await asking;
    },
  };

  function end(): void {
    if (share === null) return;
    share.end();
    const ended = share;
    // A request under way returns it.
    ask(() => giveBack(ended, false));
  }
}

/** Begins with a refusal or a recall. */
function createQuietTime(nowMs: () => number) {
  let untilMs = 0;
  let pauseMs = REFUSED_PAUSE_MS;
  const extend = (ms: number) => {
    untilMs = Math.max(untilMs, nowMs() + ms);
  };
  return {
    lasts: () => nowMs() < untilMs,
    refused: () => {
      extend(pauseMs);
      pauseMs = Math.min(2 * pauseMs, REFUSED_PAUSE_MAX_MS);
    },
    granted: () => {
      pauseMs = REFUSED_PAUSE_MS;
    },
    recalled: () => {
      extend(RECALL_MS);
    },
  };
}

async function tellUntilTaken(tell: () => Promise<void>): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_RETRIES; attempt += 1) {
    try {
      await tell();
      return true;
    } catch {
      await delay(RETRY_MS);
    }
  }
  return false;
}
